import { FirstBatchThen } from "../lib/batch-source.ts";
import {
  BEGINNING,
  Fault,
  isTerminal,
  type Scope,
  type Seq,
  snapshotOf,
  type TaskId,
  type Until,
} from "../model/index.ts";
import type { StepStream } from "../ports/index.ts";
import { LogReader } from "./log-reader.ts";
import {
  findAgentOf,
  findTaskOf,
  type OperationOf,
  type OperationParts,
  requireStreaming,
  withTask,
} from "./lookup.ts";

/** Reads on after an event, or from a snapshot. Snapshot and tail meet at a seq: no gap, no duplicate. */
export async function subscribe(
  parts: OperationParts,
  operation: OperationOf<"subscribe">,
  scope: Scope,
): Promise<StepStream> {
  const named = await withTask(parts, operation, scope);
  requireStreaming(parts, await findAgentOf(parts, named, scope));
  const { task, seq, since } = await findTaskOf(parts, named, scope);
  const hasEnded = isTerminal(task.status.state);
  const from = startOf(operation, seq, hasEnded);
  if (hasEnded && (from === "snapshot" || from === seq)) {
    if (operation.ended === "fault")
      throw new Fault("unsupported-operation", `The task has ended (${task.status.state}); get it instead`, {
        taskId: task.id,
      });
    // A reader that has the last event has all of them.
    const steps = from === seq && operation.taskFirst ? [] : [snapshotOf(task, seq)];
    return new FirstBatchThen({ steps, closing: true }, null);
  }
  const range = { scope, taskId: task.id, until: operation.until };
  if (from === BEGINNING && since === BEGINNING && operation.taskFirst) return replayFromTask(parts, range);
  if (from !== "snapshot") return new LogReader(parts, { ...range, after: from }, from < since);
  const first = { steps: [snapshotOf(task, seq)], closing: false };
  return new FirstBatchThen(first, new LogReader(parts, { ...range, after: seq }));
}

/** The first message began the task and its first stream: event 2. */
async function replayFromTask(
  parts: OperationParts,
  range: { readonly scope: Scope; readonly taskId: TaskId; readonly until: Until },
): Promise<StepStream> {
  const [begun] = await parts.store.log.read(range.scope, range.taskId, CREATED, 1);
  if (!begun) return new LogReader(parts, { ...range, after: BEGINNING });
  const first = { steps: [snapshotOf(begun.task, begun.seq, begun.at)], closing: false };
  return new FirstBatchThen(first, new LogReader(parts, { ...range, after: begun.seq }));
}
const CREATED = 1 as Seq;

function startOf(operation: OperationOf<"subscribe">, seq: Seq, hasEnded: boolean): Seq | "snapshot" {
  if (operation.from === "beginning") return hasEnded ? "snapshot" : BEGINNING;
  // A number beyond the end is not from this log: such a reader needs a snapshot.
  return operation.from === "snapshot" || operation.from > seq ? "snapshot" : operation.from;
}
