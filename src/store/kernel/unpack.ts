import { type RecordedEvent, type Seq, type TaskEvent, toTextAppend } from "../../model/index.ts";

/**
 * Events on disk: when, and what. Streamed words, which are most events, are packed as the artifact and the texts that
 * were added to it at that time, each of them an event. `pack` in `../hot/pack.ts` writes it.
 */
type Packed =
  | readonly [at: number, event: TaskEvent]
  | readonly [at: number, artifactId: string, ...texts: string[]];

/** `last`: the number of the last event in the row; null: the row begins with the first event of all. */
export function unpack(text: string, last: number | null): RecordedEvent[] {
  const events: { readonly at: number; readonly event: TaskEvent }[] = [];
  for (const [at, what, ...texts] of JSON.parse(text) as readonly Packed[]) {
    if (typeof what !== "string") events.push({ at, event: what });
    else
      for (const words of texts as readonly string[]) events.push({ at, event: toTextAppend(what, words) });
  }
  const first = last === null ? 1 : last - events.length + 1;
  return events.map(({ at, event }, i) => ({ seq: (first + i) as Seq, at, event }));
}
