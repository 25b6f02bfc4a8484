import {
  Fault,
  isTerminal,
  LIMITS,
  type Scope,
  type Seq,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../model/index.ts";
import { type OperationResult, runTopic } from "../ports/index.ts";
import { readUntil } from "./log-reader.ts";
import { findTaskOf, type OperationOf, type OperationParts, withTask } from "./lookup.ts";

/**
 * Records the request. A task without a run ends with it; a run is notified, stops, and ends the task itself, so that
 * `canceled` means that the work has stopped. If the run does not stop in time, the server ends the task.
 */
export async function cancel(
  parts: OperationParts,
  operation: OperationOf<"cancel">,
  scope: Scope,
): Promise<OperationResult> {
  const named = await withTask(parts, operation, scope);
  for (let tries = 1; ; tries++) {
    const { task, seq, agent } = await findTaskOf(parts, named, scope);
    const { state } = task.status;
    if (state === "canceled" && operation.again === "task") return { kind: "task", task, agent };
    if (isTerminal(state))
      throw new Fault("task-not-cancelable", `The task has already ended (${state})`, { taskId: task.id });
    try {
      if (!task.cancel || state !== "working")
        await parts.store.log.append(scope, task.id, toEvents(task, operation.reason), { state });
    } catch (error) {
      if (!isConflict(error) || tries >= LIMITS.conflictTriesMax) throw error;
      continue;
    }
    parts.bus.notify(runTopic(task.id));
    return { kind: "task", task: await waitForEnd(parts, scope, task.id, seq), agent };
  }
}

function toEvents(task: Task, reason: string | undefined): readonly TaskEvent[] {
  const request: TaskEvent = reason === undefined ? { type: "cancel" } : { type: "cancel", reason };
  const canceled: TaskEvent = { type: "status", state: "canceled" };
  if (task.status.state === "working") return [request];
  return task.cancel ? [canceled] : [request, canceled];
}

async function waitForEnd(parts: OperationParts, scope: Scope, taskId: TaskId, after: Seq): Promise<Task> {
  // Twice the grace period: a live runner has abandoned the agent by then.
  const timeout = AbortSignal.timeout(2 * parts.cancelGraceMs + 100);
  const range = { scope, taskId, after, until: "terminal" } as const;
  const { step, isFinal } = await readUntil(parts, range, () => timeout);
  return step && isFinal ? step.task : forceEnd(parts, scope, taskId);
}

/** The task has no live run: its server is gone, or no longer has this agent. */
async function forceEnd(parts: OperationParts, scope: Scope, taskId: TaskId): Promise<Task> {
  for (let tries = 1; ; tries++) {
    const found = await parts.store.tasks.get(scope, taskId);
    if (!found || isTerminal(found.task.status.state)) return (found as { task: Task }).task;
    try {
      await parts.store.log.append(scope, taskId, [{ type: "status", state: "canceled" }], {
        after: found.seq,
      });
    } catch (error) {
      if (!isConflict(error) || tries >= LIMITS.conflictTriesMax) throw error;
    }
  }
}

const isConflict = (error: unknown): boolean => error instanceof Fault && error.code === "conflict";
