import {
  BEGINNING,
  LIMITS,
  type Step,
  type StepKey,
  type StepRecord,
  type TaskEvent,
} from "../../model/index.ts";
import type { Run, Store } from "../../ports/index.ts";
import { type Mismatch, Notes } from "./notes.ts";
import { Said } from "./replayed-output.ts";

/** What earlier attempts of a turn did, for the attempt that resumes it. */
export interface Past {
  recall(place: StepKey): Promise<StepRecord | null>;
  /** What of an event was not said before; null: nothing. */
  rest(event: TaskEvent): TaskEvent | null;
  /** The attempt comes to a good end: what must be said besides, so that nothing stays that it did not say itself. */
  conclude(): readonly TaskEvent[];
  readonly mismatch: Mismatch | undefined;
  /** What the notes weigh. */
  readonly notedBytes: number;
  close(reason: unknown): void;
}

/** Reads it from the log. */
export async function readPast(store: Store, run: Run, attempt: number): Promise<Past> {
  const notes = new Notes();
  const said = new Said(run.task, attempt);
  for await (const { event, step } of eventsBefore(store, run)) {
    if (event.type === "message" && !event.again) notes.clear();
    // An attempt that found no notes began anew: what was said before it has been replaced.
    if (event.type === "started" && notes.isEmpty) said.clear(step.task);
    if (event.type === "noted") notes.add(event.note);
    else said.add(event);
  }

  const check = (instead: string): void => notes.check(instead);
  return {
    recall: place => notes.recall(place),
    rest(event) {
      if (notes.mismatch) throw notes.mismatch;
      return said.rest(event, check);
    },
    conclude() {
      check("it came to its end");
      return said.leftovers();
    },
    get mismatch() {
      return notes.mismatch;
    },
    notedBytes: notes.bytes,
    close: reason => notes.close(reason),
  };
}

/** All that was recorded before the run began, a page at a time. */
async function* eventsBefore(
  store: Store,
  run: Run,
): AsyncGenerator<{ readonly event: TaskEvent; readonly step: Step }> {
  for (let after = BEGINNING; ; ) {
    const steps = await store.log.read(run.scope, run.task.id, after, LIMITS.readMax);
    for (const step of steps) {
      const { event } = step;
      if (event?.type === "started" && event.attempt === run.attempt) return;
      if (event) yield { event, step };
      after = step.seq;
    }
    if (steps.length === 0) return;
    // A long log is no reason to let others wait.
    await new Promise(resolve => void setImmediate(resolve));
  }
}
