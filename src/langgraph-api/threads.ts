/** The routes of threads: create, search, change, delete, copy. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type AgentName, type ContextId, Fault, LIMITS, type Scope } from "../model/index.ts";
import type { Store } from "../ports/index.ts";
import { invalidField, readInteger, readObject, readStrings } from "../protocol/shared/fields.ts";
import { matchesFilter, type ResourceAction } from "./authorize.ts";
import { notFound } from "./faults.ts";
import { readChoice, readJsonObject, readUuid } from "./fields.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";
import { readSupersteps } from "./state-body.ts";
import type { FoundThread, ThreadRecords, ThreadTtl } from "./thread-records.ts";
import { createThreadSearch } from "./thread-search.ts";
import type { ThreadStates } from "./thread-state.ts";

export interface ThreadRouteParts {
  readonly store: Store;
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  readonly newId: () => string;
  readonly threadTtl?: ThreadTtl | undefined;
  /** Cancels the runs of a thread and waits for their end. */
  readonly stopRuns: (call: ApiCall, thread: FoundThread) => Promise<void>;
}

type ThreadAction = (ResourceAction & { readonly resource: "threads" })["action"];
const on = (action: ThreadAction): ResourceAction => ({ resource: "threads", action });

/** The thread in the path, if the authorizer lets the caller touch it. */
export async function requireThread(
  threads: ThreadRecords,
  call: ApiCall,
  action: ThreadAction,
  value: Record<string, Json> = {},
): Promise<FoundThread> {
  const id = call.vars.thread_id as string;
  const { filter } = await call.authorize(on(action), { ...value, thread_id: id });
  const thread = await threads.require(call.scope, id);
  if (!matchesFilter(thread.metadata, filter)) throw notFound("Thread");
  return thread;
}

/** Deletes the threads whose metadata has these members. */
export const createThreadRemoval =
  (parts: Pick<ThreadRouteParts, "threads" | "states" | "stopRuns">) =>
  async (call: ApiCall, metadata: JsonObject): Promise<void> => {
    const { filter } = await call.authorize(on("delete"), { metadata });
    for (const thread of await createThreadSearch(parts).findAll(call, metadata, filter)) {
      await parts.stopRuns(call, thread);
      await parts.threads.remove(call.scope, thread.id);
    }
  };

export function createThreadRoutes(parts: ThreadRouteParts): readonly ApiRoute[] {
  const { threads, states } = parts;
  const { search, count } = createThreadSearch(parts);

  async function create(call: ApiCall): Promise<ApiReply> {
    const given = readBody(call);
    const { value: body, filter } = await call.authorize(on("create"), { ...given });
    const givenId = readUuid(body, "thread_id");
    const id = givenId ?? parts.newId();
    const ifExists = readChoice(body, "if_exists", ["raise", "do_nothing"]) ?? "raise";
    const supersteps = readSupersteps(body);
    const ttl = readTtl(body) ?? parts.threadTtl;
    const metadata = readJsonObject(body, "metadata");
    const known = givenId === undefined ? null : await threads.find(call.scope, id);
    if (known && ifExists === "raise") throw alreadyThere(id);
    if (known && !matchesFilter(known.metadata, filter)) throw notFound("Thread");
    const thread = known ?? (await make(call.scope, id, { metadata, config: {}, ...(ttl && { ttl }) }));
    if (supersteps.length > 0) await states.updateState(call.scope, thread, undefined, supersteps);
    // A thread with a new id has neither tasks nor a state that would have to be looked for.
    else if (givenId === undefined) return { json: states.describeNew(thread) };
    return { json: await states.describe(call.scope, thread) };
  }

  async function make(scope: Scope, id: string, record: Parameters<ThreadRecords["create"]>[2]) {
    try {
      return await threads.create(scope, id, record);
    } catch (error) {
      throw error instanceof Fault && error.code === "conflict" ? alreadyThere(id) : error;
    }
  }

  async function get(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "read");
    const json = await states.describe(call.scope, thread);
    const hasTtl = thread.ttl !== undefined && call.query.get("include")?.split(",").includes("ttl");
    return { json: hasTtl ? { ...json, ttl: toTtl(thread) } : json };
  }

  async function patch(call: ApiCall): Promise<ApiReply> {
    const given = readBody(call);
    const id = call.vars.thread_id as string;
    const { value: body, filter } = await call.authorize(on("update"), { ...given, thread_id: id });
    const [metadata, ttl] = [readJsonObject(body, "metadata"), readTtl(body)];
    const thread = await threads.change(call.scope, id, old => {
      if (!matchesFilter(old.metadata, filter)) throw notFound("Thread");
      const { config, temporary } = old;
      const kept = ttl ?? old.ttl;
      const base = { metadata: { ...old.metadata, ...metadata }, config };
      return { ...base, ...(kept && { ttl: kept }), ...(temporary && { temporary }) };
    });
    if (call.headers.prefer?.includes("return=minimal")) return { status: 204 };
    return { json: await states.describe(call.scope, thread) };
  }

  async function remove(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "delete");
    await parts.stopRuns(call, thread);
    await threads.remove(call.scope, thread.id);
    return { status: 204 };
  }

  async function copy(call: ApiCall): Promise<ApiReply> {
    const from = await requireThread(threads, call, "read");
    const { value } = await call.authorize(on("create"), { metadata: { ...from.metadata } });
    const id = parts.newId() as ContextId;
    const agent = await threads.agentOf(call.scope, from);
    if (agent && !agent.graph)
      throw new Fault(
        "unsupported-operation",
        `The agent "${agent.name}" is no graph: its threads cannot be copied`,
      );
    const metadata = { ...readJsonObject(value, "metadata"), thread_id: id };
    const made = await make(call.scope, id, { metadata, config: from.config });
    if (agent) await copyStorage(call.scope, agent.name, from.id, id);
    return { json: await states.describe(call.scope, made) };
  }

  /** The checkpoints: their keys and values do not name the thread where it is the context itself. */
  async function copyStorage(scope: Scope, agent: AgentName, from: ContextId, to: ContextId): Promise<void> {
    const source = { scope, agent, area: from };
    const target = { scope, agent, area: to };
    let beyond: string | undefined;
    for (;;) {
      const range = { prefix: "", max: LIMITS.copiedItemsMax, ...(beyond !== undefined && { beyond }) };
      const items = await parts.store.storage.list(source, range);
      if (items.length === 0) return;
      const copied = items.map(({ key, value }) => ({ key, value: withThread(value, from, to) }));
      await parts.store.storage.put(target, copied);
      beyond = items.at(-1)?.key;
    }
  }

  async function prune(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const ids = readStrings(body, "thread_ids", "");
    if (!ids) throw invalidField("thread_ids", "is required");
    const strategy = readChoice(body, "strategy", ["delete", "keep_latest"]) ?? "delete";
    const { filter } = await call.authorize(on("delete"), { thread_ids: [...ids], strategy });
    let pruned = 0;
    for (const id of ids) {
      const thread = await threads.find(call.scope, id);
      if (!thread || !matchesFilter(thread.metadata, filter)) continue;
      if (strategy === "delete") {
        await parts.stopRuns(call, thread);
        await threads.remove(call.scope, thread.id);
      } else {
        const agent = await threads.agentOf(call.scope, thread);
        await agent?.graph?.keepLatest(states.graphContext(call.scope, agent, thread.id));
      }
      pruned += 1;
    }
    return { json: { pruned_count: pruned } };
  }

  const authorizeSearch = async (call: ApiCall) => {
    const { value, filter } = await call.authorize(on("search"), { ...readBody(call) });
    return [call, value as JsonObject, filter] as const;
  };

  return [
    { verb: "POST", path: "/threads", access: "write", serve: create },
    {
      verb: "POST",
      path: "/threads/search",
      access: "read",
      serve: async call => search(...(await authorizeSearch(call))),
    },
    {
      verb: "POST",
      path: "/threads/count",
      access: "read",
      serve: async call => count(...(await authorizeSearch(call))),
    },
    { verb: "POST", path: "/threads/prune", access: "write", serve: prune },
    { verb: "GET", path: "/threads/{thread_id}", access: "read", serve: get },
    { verb: "PATCH", path: "/threads/{thread_id}", access: "write", serve: patch },
    { verb: "DELETE", path: "/threads/{thread_id}", access: "write", serve: remove },
    { verb: "POST", path: "/threads/{thread_id}/copy", access: "write", serve: copy },
  ];
}

const MINUTES_MAX = 60 * 24 * 366 * 10;

/** A number alone: minutes until the thread is deleted. */
function readTtl(body: JsonObject): ThreadTtl | undefined {
  if (typeof body.ttl === "number") return readTtl({ ttl: { ttl: body.ttl } });
  const ttl = readObject(body, "ttl", "");
  if (!ttl) return undefined;
  const strategy = readChoice(ttl, "strategy", ["delete", "keep_latest"]) ?? "delete";
  const minutes = readInteger(ttl, "ttl", "ttl", { min: 1, max: MINUTES_MAX });
  if (minutes === undefined) throw invalidField("ttl.ttl", "is required");
  return { strategy, ttl: minutes };
}

const toTtl = ({ ttl, resource }: FoundThread): object => ({
  strategy: ttl?.strategy,
  ttl_minutes: ttl?.ttl,
  expires_at: resource.expiresAt === undefined ? null : new Date(resource.expiresAt).toISOString(),
});

/** A stored checkpoint names its thread. */
const withThread = (value: Json, from: string, to: string): Json =>
  isObject(value) && value.thread === from ? { ...value, thread: to } : value;

const alreadyThere = (id: string): Fault => new Fault("conflict", `Thread ${id} already exists`);
