import {
  type Recorded,
  type Seq,
  type Step,
  type TaskEvent,
  toWords,
  wordsIn,
  wordsOf,
} from "../../model/index.ts";

/**
 * Events on disk: when, and what. Streamed words, which are most events, are packed as the artifact and the texts that
 * were added to it at that time, each of them an event.
 */
type Packed =
  | readonly [at: number, event: TaskEvent]
  | readonly [at: number, artifactId: string, ...texts: string[]];

/** All events that a task gets in one commit, as the text of one row. Their own JSON is not needed after that. */
export function pack(steps: readonly Step[]): string {
  let text = "[";
  /** Words of this artifact and this time can be put to the ones before. */
  let artifactId: string | null = null;
  let at = 0;
  for (const step of steps) {
    const words = wordsIn(step);
    const id = words === null ? null : wordsOf(step.event as TaskEvent);
    if (words !== null && id === artifactId && step.at === at) text += `,${words}`;
    else {
      if (artifactId !== null) text += "]";
      if (text.length > 1) text += ",";
      text +=
        words === null
          ? `[${step.at},${step.json ?? JSON.stringify(step.event)}]`
          : `[${step.at},${JSON.stringify(id)},${words}`;
      step.json = null;
      artifactId = id;
      at = step.at;
    }
  }
  return artifactId === null ? `${text}]` : `${text}]]`;
}

/** `last`: the number of the last event in the row; null: the row begins with the first event of all. */
export function unpack(text: string, last: number | null): Recorded[] {
  const events: { readonly at: number; readonly event: TaskEvent }[] = [];
  for (const [at, what, ...texts] of JSON.parse(text) as readonly Packed[]) {
    if (typeof what !== "string") events.push({ at, event: what });
    else for (const words of texts as readonly string[]) events.push({ at, event: toWords(what, words) });
  }
  const first = last === null ? 1 : last - events.length + 1;
  return events.map(({ at, event }, i) => ({ seq: (first + i) as Seq, at, event }));
}
