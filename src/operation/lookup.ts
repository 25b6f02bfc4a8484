import type { LoopBudget } from "../lib/loop-budget.ts";
import {
  agentNotFound,
  type ContextId,
  Fault,
  type Scope,
  type SecurityScheme,
  type TaskId,
  type TaskState,
  taskNotFound,
} from "../model/index.ts";
import type {
  Agent,
  Bus,
  CallerCredentials,
  Catalog,
  Encryption,
  FoundTask,
  Operation,
  Store,
  Targets,
} from "../ports/index.ts";

/** The dependencies of the operations. Clock, ids and random numbers are injected, so that tests replay byte for byte. */
export interface OperationParts {
  readonly store: Store;
  readonly bus: Bus;
  /** Shared by all readers that catch up with a log. */
  readonly loop: LoopBudget;
  readonly catalog: Catalog;
  /** The security schemes that cards declare. */
  readonly schemes: readonly SecurityScheme[];
  readonly credentials: Pick<CallerCredentials, "save">;
  /** The rules for URLs of webhooks. */
  readonly targets: Targets;
  /** Encrypts the secrets in push configs. */
  readonly encryption: Encryption;
  /** Whether a webhook first gets the task as it stands. */
  readonly pushSnapshot: boolean;
  readonly newId: () => string;
  readonly digest: (text: string) => string;
  /** false: the server is shutting down and accepts no messages. */
  readonly isOpen: () => boolean;
  /** false: the limit of open streams is reached. */
  readonly hasStreamRoom: () => boolean;
  readonly cancelGraceMs: number;
  readonly firstEventTimeoutMs: number;
  /** How long a blocking send may wait; 0: no limit. */
  readonly sendWaitMs: number;
  /** How long a get may wait for the next update of its task. */
  readonly longPollMs: number;
  /** For how long this process has been at its limit of runs. */
  readonly fullMs: () => number;
  /** New work is refused when no run could begin for so long; 0: it always waits. */
  readonly queueWaitMs: number;
  /** The limit of servers that may have forwarded a call. */
  readonly hopsMax: number;
}

export type OperationOf<Op extends Operation["op"]> = Extract<Operation, { readonly op: Op }>;
type OngoingOperation = OperationOf<"subscribe" | "cancel">;
/** Its task is known. */
export type NamedOperation<T> = T & { readonly taskId: TaskId };

export function findAgent(parts: OperationParts, operation: Operation, scope: Scope): Agent {
  const visible = parts.catalog.visibleTo(scope);
  const agent = visible.find(operation.agent);
  const all = visible.all();
  if (operation.choice === "only" && operation.agent === undefined && all.length > 1)
    throw ambiguousAgent(all);
  if (agent) return agent;
  throw agentNotFound(operation.agent, all);
}

const ambiguousAgent = (agents: readonly Agent[]): Fault => {
  const names = agents.map(agent => agent.name).join(", ");
  return new Fault("invalid-params", `Several agents are available; name one of: ${names}`, {
    field: "metadata.agent",
  });
};

/**
 * A task by its id, or by the alias that the caller gave it. A task of another caller, one of another agent and a missing
 * one look the same.
 */
export async function findTask(
  parts: OperationParts,
  agent: Agent,
  scope: Scope,
  taskId: TaskId,
): Promise<FoundTask> {
  const found = await findTaskOrNull(parts, agent, scope, taskId);
  if (!found) throw taskNotFound(taskId);
  return found;
}

export async function findTaskOrNull(
  { store: { tasks } }: OperationParts,
  agent: Agent,
  scope: Scope,
  name: string,
): Promise<FoundTask | null> {
  let found = await tasks.get(scope, name as TaskId);
  if (!found) {
    const named = await tasks.findByName(scope, agent.name, { kind: "alias", name });
    found = named && (await tasks.get(scope, named.taskId));
  }
  return found && found.task.agent === agent.name && !found.task.reply ? found : null;
}

/** The newest task of a context in one of these states. */
export async function findInContext(
  { store }: OperationParts,
  agent: Agent,
  scope: Scope,
  contextId: ContextId,
  states: readonly TaskState[],
): Promise<TaskId | undefined> {
  const [newest] = await store.tasks.newest(scope, agent.name, { contextId, states, max: 1 });
  return newest;
}

/** v1 names a task; chat windows name a conversation, and mean the answer that is being written there. */
export async function withTask<T extends OngoingOperation>(
  parts: OperationParts,
  operation: T,
  scope: Scope,
): Promise<NamedOperation<T>> {
  if (operation.taskId !== undefined) return operation as NamedOperation<T>;
  const contextId = operation.contextId as ContextId;
  const agent = findAgent(parts, operation, scope);
  const taskId = await findInContext(parts, agent, scope, contextId, ["working", "submitted"]);
  if (taskId === undefined) throw new Fault("task-not-found", "No task of this context is being worked on");
  return { ...operation, taskId };
}

/** The task of an operation, and its agent. */
export async function findTaskOf(
  parts: OperationParts,
  operation: OperationOf<"get"> | NamedOperation<OngoingOperation>,
  scope: Scope,
): Promise<FoundTask & { readonly agent: Agent }> {
  const { taskId, contextId } = operation;
  const agent = await findAgentOf(parts, operation, scope);
  const found = await findTask(parts, agent, scope, taskId);
  if (contextId !== undefined && contextId !== found.task.contextId) throw taskNotFound(taskId);
  return { ...found, agent };
}

/** The agent of an operation on a task: the named one, or that of the task. */
export async function findAgentOf(
  parts: OperationParts,
  operation: Operation & { readonly taskId: TaskId },
  scope: Scope,
): Promise<Agent> {
  const named = operation.choice !== "any" || operation.agent !== undefined;
  const agentOfCall = named ? findAgent(parts, operation, scope) : undefined;
  if (agentOfCall && operation.choice !== "any") return agentOfCall;
  const { taskId } = operation;
  const found = await parts.store.tasks.get(scope, taskId);
  const visible = parts.catalog.visibleTo(scope).all();
  const agents = found
    ? visible.filter(one => one.name === found.task.agent)
    : await filterByAlias(parts, visible, scope, taskId);
  const [agent, other] = agents;
  if (!agent) throw taskNotFound(taskId);
  if (other) throw ambiguousAgent(agents);
  return agent;
}

/** An alias is unique for one agent only: a caller may have used it with several. */
async function filterByAlias(
  { store }: OperationParts,
  agents: readonly Agent[],
  scope: Scope,
  alias: string,
): Promise<readonly Agent[]> {
  const found: Agent[] = [];
  for (const agent of agents)
    if (await store.tasks.findByName(scope, agent.name, { kind: "alias", name: alias })) found.push(agent);
  return found;
}

/** Called before anything is recorded: a refused call can be retried without doing the work twice. */
export function requireStreaming(parts: OperationParts, agent: Agent): void {
  if (!parts.hasStreamRoom())
    throw new Fault("unavailable", "Too many streams are open on this server; retry later");
  if (!agent.card.streaming)
    throw new Fault(
      "unsupported-operation",
      `The agent "${agent.name}" does not support streaming; use a non-streaming send`,
    );
}
