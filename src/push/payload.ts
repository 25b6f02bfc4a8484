import {
  DerivedStep,
  LIMITS,
  type Seq,
  type Step,
  snapshotOf,
  type Task,
  type TaskEvent,
  textAppendTarget,
  textOfEvent,
  toTextAppend,
} from "../model/index.ts";
import type { Dialect, EncodedPush, PushSubscription } from "../ports/index.ts";

/** What is delivered in one go. */
export interface Parcel {
  readonly said: EncodedPush;
  readonly task: Task;
  /** The newest event in it. */
  readonly seq: Seq;
  /** It is made of words that may go on: where it ends must be on record before it is sent. */
  readonly isWords: boolean;
}

/** The first thing to deliver among steps that follow the place of a delivery; null: none of them is. */
export function firstParcel(
  delivery: PushSubscription,
  steps: readonly Step[],
  encode: Dialect["encodePush"],
): Parcel | null {
  for (let i = 0; i < steps.length; ) {
    const first = steps[i] as Step;
    const opens = isOpening(delivery) && first.seq === delivery.start + 1;
    const end = opens ? i + 1 : endOf(steps, i, delivery.until);
    const step = opens ? snapshotOf(first.task, first.seq, first.at) : joined(steps, i, end);
    const said = encode(step, delivery.config);
    const isWords = step.event !== null && textAppendTarget(step.event) !== null;
    if (said) return { said, task: step.task, seq: step.seq, isWords };
    i = end;
  }
  return null;
}

/** Whether a webhook is still to get the task as it stood when it was set. */
const isOpening = ({ opening, start, cursor: place }: PushSubscription): boolean =>
  opening === "task" && place === start;

/** Where a row of words for one artifact ends that begins here; any other step stands for itself. */
function endOf(steps: readonly Step[], start: number, until: Seq | undefined): number {
  const first = artifactOf(steps[start]);
  let end = start + 1;
  if (first === null) return end;
  for (let chars = 0; end < steps.length; end++) {
    const step = steps[end] as Step;
    if (artifactOf(step) !== first || (until !== undefined && step.seq > until)) break;
    chars += textOfEvent(step.event as TaskEvent).length;
    if (chars > LIMITS.pushWordsCharsMax) break;
  }
  return end;
}

const artifactOf = (step: Step | undefined): string | null =>
  step?.event ? textAppendTarget(step.event) : null;

function joined(steps: readonly Step[], start: number, end: number): Step {
  const last = steps[end - 1] as Step;
  if (end === start + 1) return last;
  const text = steps.slice(start, end).map(step => textOfEvent(step.event as TaskEvent));
  return new DerivedStep(last, toTextAppend(artifactOf(last) as string, text.join("")));
}
