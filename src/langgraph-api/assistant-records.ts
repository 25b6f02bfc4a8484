/** Assistants: one for each agent, made by the server, and those that callers create over them. */
import type { Json, JsonObject } from "../lib/json.ts";
import { type AgentName, Fault, LIMITS, type Scope } from "../model/index.ts";
import type { Agent, Catalog, Resource, Store } from "../ports/index.ts";
import { notFound } from "./faults.ts";
import { toIso } from "./fields.ts";

export interface AssistantParts {
  readonly store: Pick<Store, "resources">;
  readonly catalog: Catalog;
  /** The UUID of an agent's name. */
  readonly idOf: (name: string) => string;
  /** When the server started, in milliseconds: the time of its own assistants. */
  readonly startedAt: number;
}

/** As it is on the wire. */
export interface Assistant {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly config: JsonObject;
  readonly context: JsonObject;
  readonly metadata: JsonObject;
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The members that make a version. */
export type AssistantVersion = Pick<
  Assistant,
  "graph_id" | "config" | "context" | "metadata" | "name" | "description" | "version" | "created_at"
>;

export interface AssistantRecord {
  /** The version in use. */
  readonly version: number;
  /** The newest last. */
  readonly versions: readonly AssistantVersion[];
}

export interface FoundAssistant {
  readonly assistant: Assistant;
  readonly agent: Agent;
  readonly record: Resource | null;
}

export const recordOf = ({ value }: Resource): AssistantRecord => value as unknown as AssistantRecord;

export function toAssistant(resource: Resource): Assistant {
  const { version, versions } = recordOf(resource);
  const current = versions.find(one => one.version === version) ?? (versions.at(-1) as AssistantVersion);
  const times = { created_at: toIso(resource.createdAt), updated_at: toIso(resource.updatedAt) };
  return { assistant_id: resource.id, ...current, ...times };
}

export function createAssistantRecords({ store, catalog, idOf, startedAt }: AssistantParts) {
  const toSystemAssistant = ({ name, card }: Agent): Assistant => ({
    assistant_id: idOf(name),
    graph_id: name,
    config: {},
    context: {},
    metadata: { created_by: "system" },
    name,
    description: card.description,
    version: 1,
    created_at: toIso(startedAt),
    updated_at: toIso(startedAt),
  });

  /** null: there is none for this caller. */
  async function find(scope: Scope, idOrName: string): Promise<FoundAssistant | null> {
    const visible = catalog.visibleTo(scope);
    const own = visible.find(idOrName as AgentName);
    const id = own ? idOf(own.name) : idOrName;
    const record = await store.resources.find(scope, "assistant", id);
    if (!record) return own ? { assistant: toSystemAssistant(own), agent: own, record } : null;
    const assistant = toAssistant(record);
    const agent = visible.find(assistant.graph_id as AgentName);
    return agent ? { assistant, agent, record } : null;
  }

  return {
    find,
    async require(scope: Scope, idOrName: string): Promise<FoundAssistant> {
      const found = await find(scope, idOrName);
      if (!found) throw notFound("Assistant");
      return found;
    },
    /** Those of the server and those of the caller. */
    async list(scope: Scope): Promise<readonly Assistant[]> {
      const agents = catalog.visibleTo(scope).all();
      const range = { by: "createdAt", backwards: true, max: LIMITS.assistantsMax } as const;
      const records = await store.resources.list(scope, "assistant", range);
      const own = records.map(toAssistant).filter(one => agents.some(agent => agent.name === one.graph_id));
      const known = new Set(own.map(one => one.assistant_id));
      const system = agents.map(toSystemAssistant).filter(one => !known.has(one.assistant_id));
      return [...own, ...system];
    },
    findGraph: (scope: Scope, name: string): Agent | undefined =>
      catalog.visibleTo(scope).find(name as AgentName),
    async checkRoom(scope: Scope): Promise<void> {
      const range = { by: "createdAt", backwards: true, max: LIMITS.assistantsMax } as const;
      if ((await store.resources.list(scope, "assistant", range)).length >= LIMITS.assistantsMax)
        throw new Fault("too-large", `A caller may have ${LIMITS.assistantsMax} assistants`);
    },
    create: (
      scope: Scope,
      id: string,
      at: number,
      members: Omit<AssistantVersion, "version" | "created_at">,
    ) =>
      store.resources.put(
        scope,
        "assistant",
        {
          id,
          createdAt: at,
          updatedAt: at,
          value: toJson({ version: 1, versions: [{ ...members, version: 1, created_at: toIso(at) }] }),
        },
        "absent",
      ),
    replace: (scope: Scope, old: Resource, at: number, record: AssistantRecord) =>
      store.resources.put(scope, "assistant", { ...old, updatedAt: at, value: toJson(record) }, old.rev),
    remove: (scope: Scope, id: string) => store.resources.remove(scope, "assistant", id),
  };
}

export type AssistantRecords = ReturnType<typeof createAssistantRecords>;

const toJson = (record: AssistantRecord): JsonObject => record as unknown as Json as JsonObject;
