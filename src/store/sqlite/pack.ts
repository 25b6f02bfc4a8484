import { type Recorded, type Seq, type Step, type TaskEvent, toWords, wordsIn } from "../../model/index.ts";

/** One event on disk: when, and what; streamed words, which are most events, as artifact and text alone. */
type Packed =
  | readonly [at: number, event: TaskEvent]
  | readonly [at: number, artifactId: string, text: string];

/** All events that a task got in one commit, as the text of one row. */
export function pack(steps: readonly Step[]): string {
  let text = "[";
  for (const step of steps) {
    const words = wordsIn(step);
    if (text.length > 1) text += ",";
    text += words
      ? `[${step.at},${JSON.stringify(words.artifactId)},${words.json}]`
      : `[${step.at},${JSON.stringify(step.event)}]`;
  }
  return `${text}]`;
}

/** `last`: the number of the last event in the row. */
export function unpack(text: string, last: number): Recorded[] {
  const packed = JSON.parse(text) as readonly Packed[];
  const first = last - packed.length + 1;
  return packed.map((one, i) => ({
    seq: (first + i) as Seq,
    at: one[0],
    event: one.length === 2 ? one[1] : toWords(one[1], one[2]),
  }));
}
