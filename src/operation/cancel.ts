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
import { type Answer, runTopic } from "../ports/index.ts";
import { lastOf } from "./log-reader.ts";
import { type CoreParts, findAsked, type OperationOf } from "./lookup.ts";

/**
 * Records the wish. A task that nobody works on ends with it; a run hears of it, stops, and ends the task itself, so
 * that `canceled` means that the work has stopped. A run that does not come to an end is not waited for for ever.
 */
export async function cancel(
  parts: CoreParts,
  operation: OperationOf<"cancel">,
  scope: Scope,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const { task, seq, agent } = await findAsked(parts, operation, scope);
    if (isTerminal(task.status.state)) return { kind: "task", task: alreadyOver(task, operation), agent };
    try {
      if (!task.cancel || task.status.state !== "working")
        await parts.store.log.append(scope, task.id, wish(task, operation.reason), {
          state: task.status.state,
        });
    } catch (error) {
      if (!isConflict(error) || tries >= LIMITS.conflictTriesMax) throw error;
      continue;
    }
    parts.bus.notify(runTopic(task.id));
    return { kind: "task", task: await seeEnd(parts, scope, task.id, seq), agent };
  }
}

function alreadyOver(task: Task, operation: OperationOf<"cancel">): Task {
  if (task.status.state === "canceled" && operation.again === "task") return task;
  throw new Fault("task-not-cancelable", `The task has already ended (${task.status.state})`, {
    taskId: task.id,
  });
}

function wish(task: Task, reason: string | undefined): readonly TaskEvent[] {
  const wanted: TaskEvent = reason === undefined ? { type: "cancel" } : { type: "cancel", reason };
  const over: TaskEvent = { type: "status", state: "canceled" };
  if (task.status.state === "working") return [wanted];
  return task.cancel ? [over] : [wanted, over];
}

async function seeEnd(parts: CoreParts, scope: Scope, taskId: TaskId, after: Seq): Promise<Task> {
  // Twice the grace: a runner that is alive has cut the agent off by then.
  const patience = AbortSignal.timeout(2 * parts.cancelGraceMs + 100);
  const reading = { scope, taskId, after, until: "terminal" } as const;
  const { step, enough } = await lastOf(parts, reading, () => patience);
  return step && enough ? step.task : force(parts, scope, taskId);
}

/** Nobody runs it: its runner is gone, or serves this agent no longer. */
async function force(parts: CoreParts, scope: Scope, taskId: TaskId): Promise<Task> {
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
