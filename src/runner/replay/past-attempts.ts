import {
  BEGINNING,
  LIMITS,
  type Step,
  type StepKey,
  type StepRecord,
  type TaskEvent,
} from "../../model/index.ts";
import type { Run, Store } from "../../ports/index.ts";
import { RecordedOutput } from "./recorded-output.ts";
import { RecordedSteps, type ReplayMismatch } from "./recorded-steps.ts";

/** The steps and the output of earlier attempts of a turn, for the attempt that resumes it. */
export interface PastAttempts {
  findStep(key: StepKey): Promise<StepRecord | null>;
  /** The part of an event that was not recorded before; null: nothing. */
  toNewOutput(event: TaskEvent): TaskEvent | null;
  /** The attempt ends the turn: the events that remove output which it did not emit itself. */
  finish(): readonly TaskEvent[];
  readonly mismatch: ReplayMismatch | undefined;
  /** The size of all results of steps. */
  readonly stepBytes: number;
  close(reason: unknown): void;
}

export async function readPastAttempts(store: Store, run: Run, attempt: number): Promise<PastAttempts> {
  const steps = new RecordedSteps();
  const output = new RecordedOutput(run.task, attempt);
  for await (const { event, step } of readEvents(store, run)) {
    if (event.type === "message" && !event.again) steps.clear();
    // An attempt that found no steps restarted: the output before it has been replaced.
    if (event.type === "started" && steps.isEmpty) output.clear(step.task);
    if (event.type === "noted") steps.add(event.note);
    else output.add(event);
  }

  const check = (instead: string): void => steps.check(instead);
  return {
    findStep: key => steps.find(key),
    toNewOutput(event) {
      if (steps.mismatch) throw steps.mismatch;
      return output.toNewOutput(event, check);
    },
    finish() {
      check("it ended");
      return output.leftovers();
    },
    get mismatch() {
      return steps.mismatch;
    },
    stepBytes: steps.bytes,
    close: reason => steps.close(reason),
  };
}

/** All events before the run, page by page. */
async function* readEvents(
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
    // A long log must not block the event loop.
    await new Promise(resolve => void setImmediate(resolve));
  }
}
