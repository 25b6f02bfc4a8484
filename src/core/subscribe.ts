import { BEGINNING, Fault, isTerminal, type Scope, type Seq, type Step, snapshotOf } from "../model/index.ts";
import type { Lazy, Steps } from "../ports.ts";
import { agentAsked, type CoreParts, findAsked, type OperationOf, requireStreaming } from "./deps.ts";
import { asCompacted, tail } from "./tail.ts";

/** Reads on from a place, or from the task as it stands. Snapshot and tail meet at a seq: no gap, no duplicate. */
export async function subscribe(
  parts: CoreParts,
  operation: OperationOf<"subscribe">,
  scope: Scope,
  signal: Lazy<AbortSignal>,
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
    return snapshotOnly(snapshotOf(task, seq));
  }
  const reading = { scope, taskId: task.id, until: operation.until, signal };
  if (from !== "snapshot") {
    const steps = tail(parts, { ...reading, after: from });
    return from < since ? asCompacted(steps) : steps;
  }
  return snapshotFirst(snapshotOf(task, seq), tail(parts, { ...reading, after: seq }));
}

function startOf(operation: OperationOf<"subscribe">, seq: Seq, ended: boolean): Seq | "snapshot" {
  if (operation.from === "beginning") return ended ? "snapshot" : BEGINNING;
  // A place beyond the end is not one of ours: such a reader needs the whole picture.
  return operation.from === "snapshot" || operation.from > seq ? "snapshot" : operation.from;
}

async function* snapshotOnly(snapshot: Step): Steps {
  yield { steps: [snapshot], closing: true };
}

async function* snapshotFirst(snapshot: Step, rest: Steps): Steps {
  yield { steps: [snapshot], closing: false };
  yield* rest;
}
