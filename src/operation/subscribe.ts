import { FirstBatchThen } from "../lib/batch-source.ts";
import { BEGINNING, Fault, isTerminal, type Scope, type Seq, snapshotOf } from "../model/index.ts";
import type { Steps } from "../ports/index.ts";
import { asCompacted, tail } from "./log-reader.ts";
import { agentAsked, type CoreParts, findAsked, type OperationOf, requireStreaming } from "./lookup.ts";

/** Reads on from a place, or from the task as it stands. Snapshot and tail meet at a seq: no gap, no duplicate. */
export async function subscribe(
  parts: CoreParts,
  operation: OperationOf<"subscribe">,
  scope: Scope,
): Promise<Steps> {
  requireStreaming(parts, await agentAsked(parts, operation, scope));
  const { task, seq, since } = await findAsked(parts, operation, scope);
  const ended = isTerminal(task.status.state);
  const from = startOf(operation, seq, ended);
  if (ended && (from === "snapshot" || from === seq)) {
    if (operation.ended === "fault")
      throw new Fault("unsupported-operation", `The task has ended (${task.status.state}); get it instead`, {
        taskId: task.id,
      });
    return new FirstBatchThen({ steps: [snapshotOf(task, seq)], closing: true }, null);
  }
  const reading = { scope, taskId: task.id, until: operation.until };
  if (from !== "snapshot") {
    const steps = tail(parts, { ...reading, after: from });
    return from < since ? asCompacted(steps) : steps;
  }
  const first = { steps: [snapshotOf(task, seq)], closing: false };
  return new FirstBatchThen(first, tail(parts, { ...reading, after: seq }));
}

function startOf(operation: OperationOf<"subscribe">, seq: Seq, ended: boolean): Seq | "snapshot" {
  if (operation.from === "beginning") return ended ? "snapshot" : BEGINNING;
  // A place beyond the end is not one of ours: such a reader needs the whole picture.
  return operation.from === "snapshot" || operation.from > seq ? "snapshot" : operation.from;
}
