/** The routes of assistants. */
import { isObject, type JsonObject } from "../lib/json.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { StateSchemas } from "../ports/index.ts";
import { invalidField, readInteger, readObject, readString, requireId } from "../protocol/shared/fields.ts";
import {
  type Assistant,
  type AssistantRecords,
  type AssistantVersion,
  type FoundAssistant,
  recordOf,
  toAssistant,
} from "./assistant-records.ts";
import { matchesFilter, type ResourceAction } from "./authorize.ts";
import { notFound } from "./faults.ts";
import {
  contains,
  paginationHeaders,
  pick,
  readChoice,
  readFlag,
  readJsonObject,
  readPage,
  readSelect,
  readUuid,
} from "./fields.ts";
import { drawAgent, schemasOf } from "./plain-agent.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";

export interface AssistantRouteParts {
  readonly assistants: AssistantRecords;
  /** Deletes the threads whose metadata has these members. */
  readonly removeThreads: (call: ApiCall, metadata: JsonObject) => Promise<void>;
  readonly newId: () => string;
  readonly now: () => number;
}

const SORTS = ["assistant_id", "graph_id", "created_at", "updated_at", "name"] as const;
const on = (action: "create" | "read" | "update" | "delete" | "search"): ResourceAction => ({
  resource: "assistants",
  action,
});

export function createAssistantRoutes(parts: AssistantRouteParts): readonly ApiRoute[] {
  const { assistants } = parts;

  /** The assistant in the path, if the authorizer lets the caller touch it. */
  async function require(call: ApiCall, action: "read" | "update" | "delete"): Promise<FoundAssistant> {
    const id = call.vars.assistant_id as string;
    const { filter } = await call.authorize(on(action), { assistant_id: id });
    const found = await assistants.require(call.scope, id);
    if (!matchesFilter(found.assistant.metadata, filter)) throw notFound("Assistant");
    return found;
  }

  async function findMatching(call: ApiCall, body: JsonObject): Promise<readonly Assistant[]> {
    const { filter } = await call.authorize(on("search"), { ...body });
    const [graph, metadata] = [readString(body, "graph_id", ""), readJsonObject(body, "metadata")];
    const name = readString(body, "name", "")?.toLowerCase();
    return (await assistants.list(call.scope)).filter(
      one =>
        (graph === undefined || one.graph_id === graph) &&
        (name === undefined || one.name.toLowerCase().includes(name)) &&
        contains(one.metadata, metadata) &&
        matchesFilter(one.metadata, filter),
    );
  }

  async function search(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const page = readPage(body);
    const by = readChoice(body, "sort_by", SORTS) ?? "created_at";
    const order = readChoice(body, "sort_order", ["asc", "desc"]) === "asc" ? 1 : -1;
    const select = readSelect(body);
    const found = [...(await findMatching(call, body))].sort(
      (a, b) => order * (compare(a[by], b[by]) || compare(a.assistant_id, b.assistant_id)),
    );
    const shown = found.slice(page.offset, page.offset + page.limit);
    return { json: shown.map(one => pick(one, select)), headers: paginationHeaders(page, found.length) };
  }

  async function create(call: ApiCall): Promise<ApiReply> {
    const given = readBody(call);
    const { value: body } = await call.authorize(on("create"), { ...given });
    const graph = assistants.findGraph(call.scope, requireId(body, "graph_id", ""));
    if (!graph) throw new Fault("task-not-found", `Graph "${String(body.graph_id)}" not found`);
    const id = readUuid(body, "assistant_id") ?? parts.newId();
    const ifExists = readChoice(body, "if_exists", ["raise", "do_nothing"]) ?? "raise";
    const known = await assistants.find(call.scope, id);
    if (known && ifExists === "do_nothing") return { json: known.assistant };
    if (known) throw alreadyThere(id);
    await assistants.checkRoom(call.scope);
    const members = readMembers(body, {
      graph_id: graph.name,
      config: {},
      context: {},
      metadata: {},
      name: "Untitled",
      description: null,
    });
    try {
      return { json: toAssistant(await assistants.create(call.scope, id, parts.now(), members)) };
    } catch (error) {
      throw error instanceof Fault && error.code === "conflict" ? alreadyThere(id) : error;
    }
  }

  async function patch(call: ApiCall): Promise<ApiReply> {
    const given = readBody(call);
    const { assistant, record } = await require(call, "update");
    const { value: body } = await call.authorize(on("update"), {
      ...given,
      assistant_id: assistant.assistant_id,
    });
    const graph = readString(body, "graph_id", "");
    if (graph !== undefined && !assistants.findGraph(call.scope, graph))
      throw new Fault("task-not-found", `Graph "${graph}" not found`);
    const metadata = { ...assistant.metadata, ...readJsonObject(body, "metadata") };
    const members = { ...readMembers(body, assistant), metadata, graph_id: graph ?? assistant.graph_id };
    const at = parts.now();
    const old = record ?? (await assistants.create(call.scope, assistant.assistant_id, at, assistant));
    const { versions } = recordOf(old);
    const version = Math.max(...versions.map(one => one.version)) + 1;
    const added: AssistantVersion = { ...members, version, created_at: new Date(at).toISOString() };
    const kept = [...versions, added].slice(-LIMITS.assistantVersionsMax);
    return { json: toAssistant(await assistants.replace(call.scope, old, at, { version, versions: kept })) };
  }

  async function setLatest(call: ApiCall): Promise<ApiReply> {
    const { assistant, record } = await require(call, "update");
    const version = readInteger(readBody(call), "version", "", { min: 1, max: 1_000_000 });
    if (version === undefined) throw invalidField("version", "is required");
    if (!record && version === 1) return { json: assistant };
    const { versions } = record ? recordOf(record) : { versions: [] };
    if (!record || !versions.some(one => one.version === version)) throw notFound("Assistant");
    return {
      json: toAssistant(await assistants.replace(call.scope, record, parts.now(), { version, versions })),
    };
  }

  async function listVersions(call: ApiCall): Promise<ApiReply> {
    const { assistant, record } = await require(call, "read");
    const body = readBody(call);
    const { limit, offset } = readPage(body);
    const metadata = readJsonObject(body, "metadata");
    const { assistant_id } = assistant;
    const versions = record ? recordOf(record).versions.toReversed() : [assistant];
    const found = versions.filter(one => contains(one.metadata, metadata));
    return { json: found.slice(offset, offset + limit).map(one => ({ assistant_id, ...one })) };
  }

  async function remove(call: ApiCall): Promise<ApiReply> {
    const { assistant, record } = await require(call, "delete");
    if (!record)
      throw new Fault("unsupported-operation", "The assistant of an agent of this server cannot be deleted");
    const { assistant_id } = assistant;
    if (readFlag(call.query, "delete_threads")) await parts.removeThreads(call, { assistant_id });
    await assistants.remove(call.scope, assistant_id);
    return { json: [assistant_id] };
  }

  return [
    { verb: "POST", path: "/assistants", access: "write", serve: create },
    { verb: "POST", path: "/assistants/search", access: "read", serve: search },
    {
      verb: "POST",
      path: "/assistants/count",
      access: "read",
      serve: async call => ({ json: (await findMatching(call, readBody(call))).length }),
    },
    {
      verb: "GET",
      path: "/assistants/{assistant_id}",
      access: "read",
      serve: async call => ({ json: (await require(call, "read")).assistant }),
    },
    { verb: "PATCH", path: "/assistants/{assistant_id}", access: "write", serve: patch },
    { verb: "DELETE", path: "/assistants/{assistant_id}", access: "write", serve: remove },
    { verb: "POST", path: "/assistants/{assistant_id}/versions", access: "read", serve: listVersions },
    { verb: "POST", path: "/assistants/{assistant_id}/latest", access: "write", serve: setLatest },
    ...createGraphRoutes(require),
  ];
}

/** What is known of the graph behind an assistant. */
function createGraphRoutes(
  require: (call: ApiCall, action: "read") => Promise<FoundAssistant>,
): readonly ApiRoute[] {
  async function subgraphs(call: ApiCall): Promise<ApiReply> {
    const { agent, assistant } = await require(call, "read");
    const { namespace } = call.vars;
    const found = (await agent.graph?.subgraphs(namespace, readFlag(call.query, "recurse"))) ?? {};
    const all = Object.entries(found).map(([ns, schemas]) => [ns, toSchemas(assistant, schemas)]);
    return { json: Object.fromEntries(all) };
  }
  return [
    {
      verb: "GET",
      path: "/assistants/{assistant_id}/schemas",
      access: "read",
      serve: async call => {
        const { assistant, agent } = await require(call, "read");
        return { json: toSchemas(assistant, await schemasOf(agent)) };
      },
    },
    {
      verb: "GET",
      path: "/assistants/{assistant_id}/graph",
      access: "read",
      serve: async call => {
        const { agent } = await require(call, "read");
        return { json: agent.graph ? await agent.graph.drawing(readXray(call.query)) : drawAgent(agent) };
      },
    },
    { verb: "GET", path: "/assistants/{assistant_id}/subgraphs", access: "read", serve: subgraphs },
    {
      verb: "GET",
      path: "/assistants/{assistant_id}/subgraphs/{namespace}",
      access: "read",
      serve: subgraphs,
    },
  ];
}

const toSchemas = ({ graph_id }: Assistant, schemas: StateSchemas): object => ({
  graph_id,
  input_schema: schemas.input,
  output_schema: schemas.output,
  state_schema: schemas.state,
  config_schema: schemas.config,
  context_schema: schemas.context ?? schemas.config,
});

function readXray(query: URLSearchParams): boolean | number {
  const xray = query.get("xray") ?? "";
  return /^\d{1,2}$/.test(xray) && xray !== "1" && xray !== "0" ? Number(xray) : readFlag(query, "xray");
}

type Members = Omit<AssistantVersion, "version" | "created_at">;

/** The members of the body; those that are missing stay. */
function readMembers(body: Readonly<JsonObject>, old: Members): Members {
  const { context } = body;
  if (context !== undefined && context !== null && !isObject(context))
    throw invalidField("context", "must be an object");
  return {
    graph_id: old.graph_id,
    config: readObject(body, "config", "") ?? old.config,
    context: context ?? old.context,
    metadata: readObject(body, "metadata", "") ?? old.metadata,
    name: readString(body, "name", "") ?? old.name,
    description: readString(body, "description", "") ?? old.description,
  };
}

const alreadyThere = (id: string): Fault => new Fault("conflict", `Assistant ${id} already exists`);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
