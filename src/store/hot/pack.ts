import { Fault, type Step, type TaskEvent, wordsIn, wordsOf } from "../../model/index.ts";

/**
 * The events of one task that wait for their commit, as the text of one row; `unpack` in `../rows/pack.ts` reads it. The
 * text grows with every append: an event that has no JSON is refused there, and never reaches a commit of many tasks.
 */
export interface Packing {
  /** Without the closing brackets. Empty: no event waits. */
  packed: string;
  /** The artifact to which the last entry adds text; null: the last entry is another event. */
  wordsId: string | null;
  /** The time of the last entry. */
  packedAt: number;
}

/** Adds an event, or throws and changes nothing. */
export function pack(to: Packing, step: Step): void {
  try {
    add(to, step);
  } catch (cause) {
    throw new Fault("internal", "This event cannot be recorded", { taskId: step.taskId }, cause);
  }
}

/** Text of one artifact and one time is added to the entry before. */
function add(to: Packing, step: Step): void {
  const words = wordsIn(step);
  const id = words === null ? null : wordsOf(step.event as TaskEvent);
  if (words !== null && id === to.wordsId && step.at === to.packedAt) {
    to.packed += `,${words}`;
    return;
  }
  const before = to.packed === "" ? "[" : to.wordsId === null ? `${to.packed},` : `${to.packed}],`;
  to.packed =
    words === null
      ? `${before}[${step.at},${JSON.stringify(step.event)}]`
      : `${before}[${step.at},${JSON.stringify(id)},${words}`;
  to.wordsId = id;
  to.packedAt = step.at;
}

export const packedText = ({ packed, wordsId }: Packing): string =>
  wordsId === null ? `${packed}]` : `${packed}]]`;
