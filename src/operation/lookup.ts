import type { LoopBudget } from "../lib/loop-budget.ts";
import {
  agentNotFound,
  Fault,
  type Scope,
  type SecurityScheme,
  type TaskId,
  taskNotFound,
} from "../model/index.ts";
import type {
  Agent,
  Bus,
  Catalog,
  Credentials,
  Encryption,
  FoundTask,
  Operation,
  Store,
  Targets,
} from "../ports/index.ts";

/** What the operations work with. Time, ids and chance are handed in, so that a story replays byte for byte. */
export interface CoreParts {
  readonly store: Store;
  readonly bus: Bus;
  /** Shared by all readers that catch up with a log. */
  readonly loop: LoopBudget;
  readonly catalog: Catalog;
  /** How callers say who they are: cards tell it. */
  readonly schemes: readonly SecurityScheme[];
  /** Where what callers give to agents is kept. */
  readonly credentials: Pick<Credentials, "save">;
  /** Where callers may have updates delivered to. */
  readonly targets: Targets;
  /** Seals what is secret in a push config. */
  readonly vault: Encryption;
  /** Whether a webhook first gets the task as it stands. */
  readonly pushSnapshot: boolean;
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
  /** For how long this process has had no room for another run. */
  readonly fullMs: () => number;
  /** After so long without one that could begin, new work is refused; 0: it waits. */
  readonly queueWaitMs: number;
  /** Servers that may have passed a call on before it came here. */
  readonly hopsMax: number;
}

export type OperationOf<Op extends Operation["op"]> = Extract<Operation, { readonly op: Op }>;

export function findAgent(parts: CoreParts, operation: Operation, scope: Scope): Agent {
  const seen = parts.catalog.visibleTo(scope);
  const agent = seen.find(operation.agent);
  const served = seen.all();
  if (operation.choice === "only" && operation.agent === undefined && served.length > 1)
    throw whichAgent(served);
  if (agent) return agent;
  throw agentNotFound(operation.agent, served);
}

const namesOf = (agents: readonly Agent[]): string => agents.map(agent => agent.name).join(", ");

const whichAgent = (agents: readonly Agent[]): Fault =>
  new Fault("invalid-params", `Say which agent is meant; there are: ${namesOf(agents)}`, {
    field: "metadata.agent",
  });

/**
 * A task as its agent's callers may see it: a foreign one, one of another agent and an absent one look the same.
 * A caller may also use the id that he himself gave to it.
 */
export async function findTask(
  parts: CoreParts,
  agent: Agent,
  scope: Scope,
  taskId: TaskId,
): Promise<FoundTask> {
  const found = await seekTask(parts, agent, scope, taskId);
  if (!found) throw taskNotFound(taskId);
  return found;
}

/** The same where it need not be there. */
export async function seekTask(
  parts: CoreParts,
  agent: Agent,
  scope: Scope,
  name: string,
): Promise<FoundTask | null> {
  const found =
    (await parts.store.tasks.get(scope, name as TaskId)) ?? (await findAlias(parts, agent, scope, name));
  return found && found.task.agent === agent.name && !found.task.reply ? found : null;
}

export async function findAlias(
  parts: CoreParts,
  agent: Agent,
  scope: Scope,
  alias: string,
): Promise<FoundTask | null> {
  const named = await parts.store.tasks.findByName(scope, agent.name, { kind: "alias", name: alias });
  return named && parts.store.tasks.get(scope, named.taskId);
}

/** The task that an operation is about. */
export async function findAsked(
  parts: CoreParts,
  operation: OperationOf<"get" | "cancel" | "subscribe">,
  scope: Scope,
): Promise<FoundTask & { readonly agent: Agent }> {
  const { taskId, contextId } = operation;
  const agent = await agentAsked(parts, operation, scope);
  const found = await findTask(parts, agent, scope, taskId);
  if (contextId !== undefined && contextId !== found.task.contextId) throw taskNotFound(taskId);
  return { ...found, agent };
}

export async function agentAsked(
  parts: CoreParts,
  operation: Operation & { readonly taskId: TaskId },
  scope: Scope,
): Promise<Agent> {
  if (operation.choice !== "any") return findAgent(parts, operation, scope);
  const { taskId } = operation;
  const found = await parts.store.tasks.get(scope, taskId);
  const agents = found
    ? parts.catalog
        .visibleTo(scope)
        .all()
        .filter(one => one.name === found.task.agent)
    : await agentsThatKnow(parts, scope, taskId);
  const [agent, other] = agents;
  if (!agent) throw taskNotFound(taskId);
  if (other) throw whichAgent(agents);
  return agent;
}

/** A caller's own id of a task is unique for one agent only: he may have given it to several. */
async function agentsThatKnow(parts: CoreParts, scope: Scope, alias: string): Promise<readonly Agent[]> {
  const agents: Agent[] = [];
  for (const agent of parts.catalog.visibleTo(scope).all())
    if (await parts.store.tasks.findByName(scope, agent.name, { kind: "alias", name: alias }))
      agents.push(agent);
  return agents;
}

/** Before anything is begun: whoever is refused can try again without doing the work twice. */
export function requireStreaming(parts: CoreParts, agent: Agent): void {
  if (!parts.hasStreamRoom())
    throw new Fault("unavailable", "Too many streams are open on this server; try again later");
  if (!agent.card.streaming)
    throw new Fault("unsupported-operation", `The agent "${agent.name}" does not stream; use a plain send`);
}
