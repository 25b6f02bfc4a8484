/** The context of a message that names no task: which task of it waits, and under which thread its traces are grouped. */
import type { ContextId, Scope, Task, TaskId } from "../model/index.ts";
import type { Agent, SendRequest } from "../ports/index.ts";
import { findInContext, type OperationParts } from "./lookup.ts";

export interface ContextMessage {
  readonly agent: Agent;
  readonly scope: Scope;
  readonly send: SendRequest;
}

/** The task of the context that the message answers without naming it; undefined: it begins a new one. */
export async function findAnswered(
  parts: OperationParts,
  { agent, scope, send }: ContextMessage,
  contextId: ContextId,
): Promise<TaskId | undefined> {
  if (send.contextAnswers === "newest")
    return findInContext(parts, agent, scope, contextId, ["input-required", "auth-required"]);
  if (send.contextAnswers !== "one" || !agent.policy.contextAnswers) return undefined;
  const filter = { contextId, states: ["input-required"], max: 2 } as const;
  const [taskId, another] = await parts.store.tasks.newest(scope, agent.name, filter);
  return another === undefined ? taskId : undefined;
}

/** The context and the thread of a new task. */
export interface TaskContext {
  readonly contextId: ContextId;
  readonly thread: string | undefined;
  /** false: it has tasks, or was not looked up. */
  readonly isNew: boolean;
}

/**
 * The first thread of a context stays its thread, so that all its turns are one conversation in LangSmith. A thread without a
 * context becomes the id of the new context, if it is none yet: a client that later names the context as its thread, as
 * LangSmith's document says, stays in the same thread on every server.
 */
export async function findTaskContext(
  parts: OperationParts,
  message: ContextMessage,
  contextId: ContextId | undefined,
): Promise<TaskContext> {
  const { thread, threadless, earlier } = message.send;
  // Most messages begin a context, or come from chat windows, which have no threads: no lookup is needed.
  if (thread === undefined && (contextId === undefined || (threadless && !earlier?.length)))
    return { contextId: contextId ?? (parts.newId() as ContextId), thread, isNew: contextId === undefined };
  const newest = await findNewest(parts, message, contextId ?? (thread as ContextId));
  if (contextId !== undefined)
    return { contextId, thread: newest ? newest.thread : thread, isNew: newest === undefined };
  return { contextId: (newest ? parts.newId() : thread) as ContextId, thread, isNew: true };
}

async function findNewest(
  { store: { tasks } }: OperationParts,
  { agent, scope }: ContextMessage,
  contextId: ContextId,
): Promise<Task | undefined> {
  const [taskId] = await tasks.newest(scope, agent.name, { contextId, max: 1 });
  return taskId === undefined ? undefined : (await tasks.get(scope, taskId))?.task;
}
