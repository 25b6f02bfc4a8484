import { type Recorded, type Seq, type Step, type TaskEvent, wordsOf } from "../../model/index.ts";

/** One event on disk: when, and what; streamed words, which are most events, as artifact and text alone. */
type Packed =
  | readonly [at: number, event: TaskEvent]
  | readonly [at: number, artifactId: string, text: string];

/** All events that a task got in one commit, as the text of one row. */
export function pack(steps: readonly Step[]): string {
  let text = "[";
  for (const { at, event } of steps) {
    const separator = text.length > 1 ? "," : "";
    const artifactId = wordsOf(event as TaskEvent);
    text +=
      artifactId === null
        ? `${separator}[${at},${JSON.stringify(event)}]`
        : `${separator}[${at},${JSON.stringify(artifactId)},${JSON.stringify(textOf(event as TaskEvent))}]`;
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

function textOf(event: TaskEvent): string {
  const part = event.type === "artifact" ? event.artifact.parts[0] : undefined;
  return part?.kind === "text" ? part.text : "";
}

function toWords(artifactId: string, text: string): TaskEvent {
  const artifact = { artifactId, parts: [{ kind: "text", text } as const] };
  return { type: "artifact", artifact, append: true, last: false, join: true };
}
