import { applyView, isTerminal, type Scope, type Step, type Task } from "../model/index.ts";
import type { FoundTask, Lazy, OperationResult } from "../ports/index.ts";
import { readUntil, withTimeout } from "./log-reader.ts";
import { findTaskOf, type OperationOf, type OperationParts } from "./lookup.ts";

export async function get(
  parts: OperationParts,
  operation: OperationOf<"get">,
  scope: Scope,
  signal: Lazy<AbortSignal>,
): Promise<OperationResult> {
  const { agent, ...found } = await findTaskOf(parts, operation, scope);
  const { newerThan, view } = operation;
  const task =
    newerThan === undefined ? found.task : await waitForUpdate(parts, scope, found, newerThan, signal);
  return { kind: "task", task: applyView(task, view), agent };
}

/** The task with a newer generation; after the longest wait the task as it stands. */
async function waitForUpdate(
  parts: OperationParts,
  scope: Scope,
  { task, seq }: FoundTask,
  generation: number,
  signal: Lazy<AbortSignal>,
): Promise<Task> {
  const isNewer = (one: Task): boolean => one.generation === undefined || one.generation > generation;
  if (isNewer(task) || isTerminal(task.status.state)) return task;
  const range = { scope, taskId: task.id, after: seq, until: "terminal" as const };
  const isMatch = (step: Step): boolean => isNewer(step.task);
  const { step } = await readUntil(parts, range, withTimeout(signal, parts.longPollMs), isMatch);
  return step?.task ?? task;
}
