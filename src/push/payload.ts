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
import type { EncodedPush, PushEncoder, PushSubscription } from "../ports/index.ts";

/** The content of one delivery. */
export interface PushPayload {
  readonly encoded: EncodedPush;
  readonly task: Task;
  /** The newest event in it. */
  readonly seq: Seq;
  /** It is joined text that may grow: its end must be recorded before it is sent. */
  readonly isText: boolean;
}

/** The first payload of the steps after the cursor of a subscription; null: there is none. */
export function nextPayload(
  subscription: PushSubscription,
  steps: readonly Step[],
  encode: PushEncoder["encodePush"],
): PushPayload | null {
  const { opening, start, cursor, config, until, scope } = subscription;
  const needsSnapshot = opening === "task" && cursor === start;
  for (let i = 0; i < steps.length; ) {
    const first = steps[i] as Step;
    const isSnapshot = needsSnapshot && first.seq === start + 1;
    const end = isSnapshot ? i + 1 : endOfText(steps, i, until);
    const step = isSnapshot ? snapshotOf(first.task, first.seq, first.at) : joinSteps(steps, i, end);
    const encoded = encode(step, config, scope);
    const isText = step.event !== null && textAppendTarget(step.event) !== null;
    if (encoded) return { encoded, task: step.task, seq: step.seq, isText };
    i = end;
  }
  return null;
}

/** The end of a row of text appends to one artifact; any other step is its own row. */
function endOfText(steps: readonly Step[], start: number, until: Seq | undefined): number {
  const target = targetOf(steps[start]);
  let end = start + 1;
  if (target === null) return end;
  for (let chars = 0; end < steps.length; end++) {
    const step = steps[end] as Step;
    if (targetOf(step) !== target || (until !== undefined && step.seq > until)) break;
    chars += textOfEvent(step.event as TaskEvent).length;
    if (chars > LIMITS.pushTextCharsMax) break;
  }
  return end;
}

const targetOf = (step: Step | undefined): string | null =>
  step?.event ? textAppendTarget(step.event) : null;

function joinSteps(steps: readonly Step[], start: number, end: number): Step {
  const last = steps[end - 1] as Step;
  if (end === start + 1) return last;
  const text = steps.slice(start, end).map(step => textOfEvent(step.event as TaskEvent));
  return new DerivedStep(last, toTextAppend(targetOf(last) as string, text.join("")));
}
