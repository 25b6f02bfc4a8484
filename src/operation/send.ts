import { type Scope, type Seq, type Step, type Task, type View, viewed } from "../model/index.ts";
import type { Agent, Answer, Lazy } from "../ports/index.ts";
import { lastOf } from "./log-reader.ts";
import { type CoreParts, findAgent, type OperationOf } from "./lookup.ts";
import { type Placed, place } from "./record-message.ts";

/** Records the message, then reads the log until the task has settled; or answers at once, if the caller likes. */
export async function send(
  parts: CoreParts,
  operation: OperationOf<"send">,
  scope: Scope,
  signal: Lazy<AbortSignal>,
): Promise<Answer> {
  const agent = findAgent(parts, operation, scope);
  const placed = await place(parts, agent, operation.send, scope, isShownAtOnce(agent, operation));
  const waits = operation.until !== "accepted" || waitsForWord(agent, placed);
  const task = waits
    ? await settle(parts, operation, scope, placed, limited(parts, signal))
    : await findAny(parts, scope, placed);
  return toAnswer(agent, task, operation.view);
}

async function settle(
  parts: CoreParts,
  operation: OperationOf<"send">,
  scope: Scope,
  placed: Placed,
  signal: Lazy<AbortSignal>,
): Promise<Task> {
  const atOnce = operation.until === "accepted";
  const until = operation.until === "accepted" ? "settled" : operation.until;
  const after = (placed.seq - 1) as Seq;
  const isShown = (step: Step): boolean => atOnce && step.task.shown;
  const { step } = await lastOf(parts, { scope, taskId: placed.taskId, after, until }, signal, isShown);
  return step?.task ?? findAny(parts, scope, placed);
}

async function findAny(parts: CoreParts, scope: Scope, placed: Placed): Promise<Task> {
  const found = await parts.store.tasks.get(scope, placed.taskId);
  if (!found) throw new Error("a task that was just recorded is gone");
  return found.task;
}

function toAnswer(agent: Agent, task: Task, view: View): Answer {
  return task.reply
    ? { kind: "message", message: task.reply }
    : { kind: "task", task: viewed(task, view), agent };
}

/** D9: when the longest wait has passed, the answer is the task as it stands. */
function limited(parts: CoreParts, signal: Lazy<AbortSignal>): Lazy<AbortSignal> {
  if (parts.sendWaitMs === 0) return signal;
  return () => AbortSignal.any([signal(), AbortSignal.timeout(parts.sendWaitMs)]);
}

/** Whether the caller sees a task whatever the agent says, so that it can no longer answer with a bare message. */
export function isShownAtOnce(agent: Agent, operation: OperationOf<"send" | "stream">): boolean {
  if (agent.replies === "task" || operation.send.shown) return true;
  return operation.op === "send" && operation.until === "accepted" && agent.replies !== "message";
}

/** v1 §3.2.2: returning at once has no effect on message replies, so a declared replier is waited for. */
const waitsForWord = (agent: Agent, placed: Placed): boolean => agent.replies === "message" && !placed.known;
