import { Fault, isTerminal, type Scope, type Step, snapshotOf } from "../model/index.ts";
import type { Lazy, Steps } from "../ports.ts";
import { type CoreParts, findAgent, findTask, type OperationOf, requireStreaming } from "./deps.ts";
import { tail } from "./tail.ts";

/** Reads on from a place, or from the task as it stands. Snapshot and tail meet at a seq: no gap, no duplicate. */
export async function subscribe(
  parts: CoreParts,
  operation: OperationOf<"subscribe">,
  scope: Scope,
  signal: Lazy<AbortSignal>,
): Promise<Steps> {
  const agent = findAgent(parts, operation);
  requireStreaming(parts, agent);
  const { task, seq } = await findTask(parts, agent, scope, operation.taskId);
  // A place beyond the end is not one of ours: such a reader needs the whole picture.
  const from = operation.from === "snapshot" || operation.from > seq ? "snapshot" : operation.from;
  const ended = isTerminal(task.status.state);
  if (ended && (from === "snapshot" || from === seq)) {
    if (operation.ended === "fault")
      throw new Fault("unsupported-operation", `The task has ended (${task.status.state}); get it instead`, {
        taskId: task.id,
      });
    return snapshotOnly(snapshotOf(task, seq));
  }
  const reading = { scope, taskId: task.id, until: operation.until, signal };
  if (from !== "snapshot") return tail(parts, { ...reading, after: from });
  return snapshotFirst(snapshotOf(task, seq), tail(parts, { ...reading, after: seq }));
}

async function* snapshotOnly(snapshot: Step): Steps {
  yield { steps: [snapshot], closing: true };
}

async function* snapshotFirst(snapshot: Step, rest: Steps): Steps {
  yield { steps: [snapshot], closing: false };
  yield* rest;
}
