import { Fault, type Scope, type Seq, type Task, type TaskId, taskNotFound } from "../model/index.ts";
import type { Agent, Bus, Catalog, Operation, Store } from "../ports.ts";

/** What the operations work with. Time, ids and chance are handed in, so that a story replays byte for byte. */
export interface CoreParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly catalog: Catalog;
  readonly newId: () => string;
  /** Tells one text from another. */
  readonly digest: (text: string) => string;
  /** false: the server is stopping and takes no new work. */
  readonly isOpen: () => boolean;
  /** false: as many streams are open as this server takes. */
  readonly hasStreamRoom: () => boolean;
  readonly cancelGraceMs: number;
  readonly firstWordMs: number;
  /** How long a blocking send may wait; 0: as long as it takes. */
  readonly sendWaitMs: number;
}

export type OperationOf<Op extends Operation["op"]> = Extract<Operation, { readonly op: Op }>;

export function findAgent(parts: CoreParts, operation: Operation): Agent {
  const agent = parts.catalog.find(operation.agent);
  const served = parts.catalog.all().map(one => one.name);
  if (operation.choice === "only" && operation.agent === undefined && served.length > 1)
    throw new Fault("invalid-params", `Say which agent is meant; there are: ${served.join(", ")}`, {
      field: "metadata.agent",
    });
  if (agent) return agent;
  throw new Fault(
    "agent-not-found",
    `There is no agent "${operation.agent}" here; there are: ${served.join(", ")}`,
  );
}

export interface Found {
  readonly task: Task;
  readonly seq: Seq;
}

/**
 * A task as its agent's callers may see it: a foreign one, one of another agent and an absent one look the same.
 * A caller may also use the id that he himself gave to it.
 */
export async function findTask(parts: CoreParts, agent: Agent, scope: Scope, taskId: TaskId): Promise<Found> {
  const found =
    (await parts.store.tasks.get(scope, taskId)) ?? (await findAlias(parts, agent, scope, taskId));
  if (!found || found.task.agent !== agent.name || found.task.reply) throw taskNotFound(taskId);
  return found;
}

export async function findAlias(
  parts: CoreParts,
  agent: Agent,
  scope: Scope,
  alias: string,
): Promise<Found | null> {
  const named = await parts.store.tasks.named(scope, agent.name, { kind: "alias", name: alias });
  return named && parts.store.tasks.get(scope, named.taskId);
}

/** The task that an operation is about. */
export async function findAsked(
  parts: CoreParts,
  operation: OperationOf<"get" | "cancel" | "subscribe">,
  scope: Scope,
): Promise<Found> {
  const { taskId, contextId } = operation;
  const agent = await agentAsked(parts, operation, scope);
  const found = await findTask(parts, agent, scope, taskId);
  if (contextId !== undefined && contextId !== found.task.contextId) throw taskNotFound(taskId);
  return found;
}

export async function agentAsked(
  parts: CoreParts,
  operation: OperationOf<"get" | "cancel" | "subscribe">,
  scope: Scope,
): Promise<Agent> {
  if (operation.choice !== "any") return findAgent(parts, operation);
  const found = await parts.store.tasks.get(scope, operation.taskId);
  const agent = found && parts.catalog.find(found.task.agent);
  if (!agent) throw taskNotFound(operation.taskId);
  return agent;
}

/** Before anything is begun: whoever is refused can try again without doing the work twice. */
export function requireStreaming(parts: CoreParts, agent: Agent): void {
  if (!parts.hasStreamRoom())
    throw new Fault("unavailable", "Too many streams are open on this server; try again later");
  if (!agent.card.streaming)
    throw new Fault("unsupported-operation", `The agent "${agent.name}" does not stream; use a plain send`);
}
