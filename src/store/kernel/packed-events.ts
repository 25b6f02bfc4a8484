import {
  appendedTextJson,
  type RecordedEvent,
  type Seq,
  type Step,
  type TaskEvent,
  textAppendTarget,
  toTextAppend,
} from "../../model/index.ts";

/**
 * The events of one commit to one task are stored as the JSON of one row: the time and the event. Streamed text, which is
 * most of all events, is stored as the time, the artifact and the texts that were appended to it; each text is an event.
 */
type PackedEvent =
  | readonly [at: number, event: TaskEvent]
  | readonly [at: number, artifactId: string, ...texts: string[]];

export function packEvents(steps: readonly Step[]): string {
  let row = "[";
  /** The artifact and the time of the open list of texts; null: no list is open. */
  let artifactId: string | null = null;
  let at = 0;
  for (const step of steps) {
    const text = appendedTextJson(step);
    const id = text === null ? null : textAppendTarget(step.event as TaskEvent);
    if (text !== null && id === artifactId && step.at === at) row += `,${text}`;
    else {
      if (artifactId !== null) row += "]";
      if (row.length > 1) row += ",";
      row +=
        text === null
          ? `[${step.at},${step.json ?? JSON.stringify(step.event)}]`
          : `[${step.at},${JSON.stringify(id)},${text}`;
      // The JSON is stored: free the memory.
      step.json = null;
      artifactId = id;
      at = step.at;
    }
  }
  return artifactId === null ? `${row}]` : `${row}]]`;
}

/** The rows of successive commits to one task as one row. */
export const joinPacked = (rows: readonly string[]): string =>
  rows.length === 1 ? (rows[0] as string) : `[${rows.map(row => row.slice(1, -1)).join()}]`;

/** `last`: the sequence number of the last event in the row; null: the row has the first event of the log. */
export function unpackEvents(row: string, last: number | null): RecordedEvent[] {
  const events: { readonly at: number; readonly event: TaskEvent }[] = [];
  for (const [at, content, ...texts] of JSON.parse(row) as readonly PackedEvent[]) {
    if (typeof content !== "string") events.push({ at, event: content });
    else
      for (const text of texts as readonly string[]) events.push({ at, event: toTextAppend(content, text) });
  }
  const first = last === null ? 1 : last - events.length + 1;
  return events.map(({ at, event }, i) => ({ seq: (first + i) as Seq, at, event }));
}
