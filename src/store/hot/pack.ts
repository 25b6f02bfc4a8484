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

/** Adds an event, or throws and changes nothing. Text of one artifact and one time is added to the entry before. */
export function pack(to: Packing, step: Step): void {
  let words: string | null;
  let id: string | null;
  let json = "";
  try {
    words = wordsIn(step);
    id = words === null ? null : wordsOf(step.event as TaskEvent);
    if (words === null) json = JSON.stringify(step.event);
  } catch (cause) {
    throw new Fault("internal", "This event cannot be recorded", { taskId: step.taskId }, cause);
  }
  if (words !== null && id === to.wordsId && step.at === to.packedAt) {
    to.packed += `,${words}`;
    return;
  }
  const before = to.packed === "" ? "[" : to.wordsId === null ? `${to.packed},` : `${to.packed}],`;
  to.packed =
    words === null ? `${before}[${step.at},${json}]` : `${before}[${step.at},${JSON.stringify(id)},${words}`;
  to.wordsId = id;
  to.packedAt = step.at;
}

export const packedText = ({ packed, wordsId }: Packing): string =>
  wordsId === null ? `${packed}]` : `${packed}]]`;
