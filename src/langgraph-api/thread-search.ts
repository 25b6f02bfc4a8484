/** Search over the threads of a caller. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { LIMITS } from "../model/index.ts";
import { invalidField, readObject, readStrings } from "../protocol/shared/fields.ts";
import { matchesFilter, type ResourceFilter } from "./authorize.ts";
import {
  contains,
  type ListPage,
  paginationHeaders,
  pick,
  readChoice,
  readJsonObject,
  readPage,
  readSelect,
} from "./fields.ts";
import type { ApiCall, ApiReply } from "./route.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";
import type { Thread, ThreadStates } from "./thread-state.ts";

export interface ThreadSearchParts {
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
}

const STATUSES = ["idle", "busy", "interrupted", "error"] as const;
const SORTS = ["thread_id", "status", "created_at", "updated_at", "state_updated_at"] as const;
const EXTRACTS_MAX = 10;

interface ThreadQuery {
  readonly ids: readonly string[] | undefined;
  readonly metadata: JsonObject;
  readonly values: JsonObject | undefined;
  readonly status: (typeof STATUSES)[number] | undefined;
  readonly sortBy: (typeof SORTS)[number];
  readonly isDescending: boolean;
}

const readQuery = (body: JsonObject): ThreadQuery => ({
  ids: readStrings(body, "ids", ""),
  metadata: readJsonObject(body, "metadata"),
  values: readObject(body, "values", ""),
  status: readChoice(body, "status", STATUSES),
  sortBy: readChoice(body, "sort_by", SORTS) ?? "created_at",
  isDescending: readChoice(body, "sort_order", ["asc", "desc"]) !== "asc",
});

export function createThreadSearch({ threads, states }: ThreadSearchParts) {
  /** All matching records, in the order of their creation or change. */
  async function findRecords(
    call: ApiCall,
    query: ThreadQuery,
    filter: ResourceFilter | undefined,
  ): Promise<readonly FoundThread[]> {
    await threads.adoptNewest(call.scope);
    const isMatch = (thread: FoundThread): boolean =>
      !thread.temporary &&
      (query.ids === undefined || query.ids.includes(thread.id)) &&
      contains(thread.metadata, query.metadata) &&
      matchesFilter(thread.metadata, filter);
    const by = query.sortBy === "updated_at" ? "updatedAt" : "createdAt";
    const found: FoundThread[] = [];
    let beyond: { at: number; id: string } | undefined;
    for (let read = 0; read < LIMITS.searchedThreadsMax; ) {
      const range = {
        by,
        backwards: query.isDescending,
        max: LIMITS.pageSizeMax,
        ...(beyond && { beyond }),
      } as const;
      const page = await threads.list(call.scope, range);
      found.push(...page.filter(isMatch));
      read += page.length;
      const last = page.at(-1);
      if (!last || page.length < range.max) break;
      beyond = { at: last.resource[by], id: last.id };
    }
    return found;
  }

  /** Filters and sorts by what only a described thread has. */
  async function findThreads(
    call: ApiCall,
    query: ThreadQuery,
    filter: ResourceFilter | undefined,
    withValues: boolean,
  ): Promise<readonly Thread[]> {
    const all: Thread[] = [];
    for (const record of await findRecords(call, query, filter)) {
      const thread = await states.describe(call.scope, record, withValues || query.values !== undefined);
      if (query.status !== undefined && thread.status !== query.status) continue;
      if (query.values && !contains(thread.values, query.values)) continue;
      all.push(thread);
    }
    const { sortBy, isDescending } = query;
    if (sortBy === "created_at" || sortBy === "updated_at") return all;
    const order = isDescending ? -1 : 1;
    return all.sort((a, b) => (a[sortBy] < b[sortBy] ? -order : order));
  }

  /** Only the threads of the page are described, where records alone decide which these are. */
  async function findPage(
    call: ApiCall,
    query: ThreadQuery,
    filter: ResourceFilter | undefined,
    page: ListPage,
    withValues: boolean,
  ) {
    const isPlain =
      query.status === undefined &&
      !query.values &&
      (query.sortBy === "created_at" || query.sortBy === "updated_at");
    if (!isPlain) {
      const all = await findThreads(call, query, filter, withValues);
      return { total: all.length, threads: all.slice(page.offset, page.offset + page.limit) };
    }
    const records = await findRecords(call, query, filter);
    const shown = records.slice(page.offset, page.offset + page.limit);
    const described = await Promise.all(shown.map(one => states.describe(call.scope, one, withValues)));
    return { total: records.length, threads: described };
  }

  return {
    /** Those whose metadata has these members. */
    findAll: (call: ApiCall, metadata: JsonObject, filter: ResourceFilter | undefined) =>
      findRecords(call, readQuery({ metadata }), filter),
    async search(call: ApiCall, body: JsonObject, filter: ResourceFilter | undefined): Promise<ApiReply> {
      const page = readPage(body);
      const select = readSelect(body);
      const extract = readExtract(body);
      const needsValues =
        !select || select.some(name => ["values", "interrupts", "state_updated_at"].includes(name));
      const query = readQuery(body);
      const { threads: found, total } = await findPage(
        call,
        query,
        filter,
        page,
        needsValues || extract !== undefined,
      );
      const json = found.map(thread => ({
        ...pick(thread, select),
        ...(extract && { extracted: extractFrom(thread, extract) }),
      }));
      return { json, headers: paginationHeaders(page, total) };
    },
    async count(call: ApiCall, body: JsonObject, filter: ResourceFilter | undefined): Promise<ApiReply> {
      const query = readQuery(body);
      const isPlain = query.status === undefined && !query.values;
      const found = isPlain
        ? await findRecords(call, query, filter)
        : await findThreads(call, query, filter, false);
      return { json: found.length };
    },
  };
}

/** By alias: the path of a member, such as `values.messages[-1].content`. */
function readExtract(body: JsonObject): Readonly<Record<string, string>> | undefined {
  const extract = readObject(body, "extract", "");
  if (!extract) return undefined;
  const all = Object.entries(extract);
  if (all.length > EXTRACTS_MAX) throw invalidField("extract", `must have at most ${EXTRACTS_MAX} members`);
  for (const [alias, path] of all)
    if (typeof path !== "string" || !PATH.test(path))
      throw invalidField(`extract.${alias}`, "must be a path such as values.messages[-1]");
  return extract as Record<string, string>;
}

const PATH = /^(?:values|metadata|interrupts|config)(?:\.[\w-]{1,64}|\[-?\d{1,6}\]){0,16}$/;

function extractFrom(thread: Thread, paths: Readonly<Record<string, string>>): JsonObject {
  const all = Object.entries(paths).map(([alias, path]) => [
    alias,
    valueAt(thread as unknown as Json, path) ?? null,
  ]);
  return Object.fromEntries(all) as JsonObject;
}

function valueAt(value: Json, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const [step] of path.matchAll(/[\w-]+|\[-?\d+\]/g)) {
    if (step.startsWith("["))
      at = Array.isArray(at) ? (at.at(Number(step.slice(1, -1))) as Json | undefined) : undefined;
    else at = isObject(at) ? at[step] : undefined;
  }
  return at;
}
