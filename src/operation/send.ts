import { applyView, type Scope, type Seq, type Step, type Task } from "../model/index.ts";
import type { Agent, Lazy, OperationResult } from "../ports/index.ts";
import { readUntil, withTimeout } from "./log-reader.ts";
import { findAgent, type OperationOf, type OperationParts } from "./lookup.ts";
import { type RecordedMessage, recordMessage } from "./record-message.ts";

/** Records the message, then reads the log until the task has settled; a non-blocking call returns at once. */
export async function send(
  parts: OperationParts,
  operation: OperationOf<"send">,
  scope: Scope,
  signal: Lazy<AbortSignal>,
): Promise<OperationResult> {
  const agent = findAgent(parts, operation, scope);
  const isShown = isShownAtOnce(agent, operation);
  const recorded = await recordMessage(parts, agent, operation.send, scope, isShown);
  // v1 §3.2.2: returning at once has no effect on message replies, so a declared replier is waited for.
  const waits = operation.until !== "accepted" || (agent.replies === "message" && !recorded.known);
  const task =
    (waits && (await readTask(parts, operation, scope, recorded, signal))) ||
    (await findRecordedTask(parts, scope, recorded));
  return task.reply
    ? { kind: "message", message: task.reply }
    : { kind: "task", task: applyView(task, operation.view), agent, seq: recorded.seq };
}

async function readTask(
  parts: OperationParts,
  operation: OperationOf<"send">,
  scope: Scope,
  { taskId, seq }: RecordedMessage,
  signal: Lazy<AbortSignal>,
): Promise<Task | undefined> {
  const atOnce = operation.until === "accepted";
  const until = operation.until === "accepted" ? "settled" : operation.until;
  const isShown = (step: Step): boolean => atOnce && step.task.shown;
  const range = { scope, taskId, after: (seq - 1) as Seq, until };
  // D9: after the longest wait the result is the task as it stands.
  const end = parts.sendWaitMs === 0 ? signal : withTimeout(signal, parts.sendWaitMs);
  const { step } = await readUntil(parts, range, end, isShown);
  return step?.task;
}

async function findRecordedTask(
  parts: OperationParts,
  scope: Scope,
  { taskId }: RecordedMessage,
): Promise<Task> {
  const found = await parts.store.tasks.get(scope, taskId);
  if (!found) throw new Error("a task that was just recorded is missing");
  return found.task;
}

/** Whether the caller gets a task in any case, so that the agent can no longer reply with a bare message. */
export function isShownAtOnce(agent: Agent, operation: OperationOf<"send" | "stream">): boolean {
  if (agent.replies === "task" || operation.send.shown) return true;
  return operation.op === "send" && operation.until === "accepted" && agent.replies !== "message";
}
