/** The routes of crons: runs that begin at certain times, in a thread or each in a new one. */
import { isTimezone, parseCron } from "../lib/cron.ts";
import { defined, type Json, type JsonObject } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { Bus, Schedule, Store } from "../ports/index.ts";
import { SCHEDULE_DUE } from "../ports/index.ts";
import { invalidField, readString } from "../protocol/shared/fields.ts";
import type { AssistantRecords } from "./assistant-records.ts";
import { matchesFilter, type ResourceAction } from "./authorize.ts";
import { notFound } from "./faults.ts";
import {
  contains,
  paginationHeaders,
  pick,
  readChoice,
  readJsonObject,
  readPage,
  readSelect,
  toIso,
} from "./fields.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";
import type { ThreadRecords } from "./thread-records.ts";

export interface CronRouteParts {
  readonly readWebhook: (body: JsonObject) => string | undefined;
  readonly store: Pick<Store, "schedules">;
  readonly bus: Pick<Bus, "notify">;
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly newId: () => string;
  readonly wallTime: () => number;
  /** See `nextTimeOf`. */
  readonly nextTimeOf: (schedule: Omit<Schedule, "nextAt">, after: number) => number | undefined;
}

/** The members of a cron that are those of the runs which it begins. */
const RUN_MEMBERS = [
  ...["assistant_id", "input", "config", "context", "interrupt_before", "interrupt_after"],
  ...["multitask_strategy", "stream_mode", "stream_subgraphs", "stream_resumable", "durability"],
  ...["checkpoint_during", "on_run_completed"],
] as const;
const SORTS = ["cron_id", "assistant_id", "thread_id", "created_at", "updated_at", "next_run_date"] as const;

const on = (action: "create" | "read" | "update" | "delete" | "search"): ResourceAction => ({
  resource: "crons",
  action,
});

export function createCronRoutes(parts: CronRouteParts): readonly ApiRoute[] {
  const { assistants, threads } = parts;
  const { schedules } = parts.store;

  async function save(call: ApiCall, schedule: Omit<Schedule, "nextAt">): Promise<Schedule> {
    const saved = { ...schedule, nextAt: parts.nextTimeOf(schedule, parts.wallTime()) };
    await schedules.put(call.scope, saved);
    parts.bus.notify(SCHEDULE_DUE);
    return saved;
  }

  async function create(call: ApiCall): Promise<ApiReply> {
    const given = readBody(call);
    const threadId = call.vars.thread_id;
    const { value, filter } = await call.authorize(on("create"), {
      ...given,
      ...(threadId !== undefined && { thread_id: threadId }),
    });
    const body = value as JsonObject;
    const webhook = parts.readWebhook(body);
    const named = readString(body, "assistant_id", "");
    if (named === undefined) throw invalidField("assistant_id", "is required");
    const { agent, assistant } = await assistants.require(call.scope, named);
    const { assistant_id } = assistant;
    if (threadId !== undefined) {
      const thread = await threads.require(call.scope, threadId);
      if (!matchesFilter(thread.metadata, filter)) throw notFound("Thread");
    }
    const at = parts.wallTime();
    const schedule = {
      id: parts.newId(),
      agent: agent.name,
      contextId: threadId,
      ...readTimes(body, { cron: undefined, timezone: "UTC", endAt: undefined, isEnabled: true }),
      createdAt: at,
      updatedAt: at,
      metadata: readJsonObject(body, "metadata"),
      payload: { ...pickRun(body), assistant_id, ...(webhook !== undefined && { webhook }) },
    };
    return { json: toCron(await save(call, schedule), call) };
  }

  /** The cron in the path, if the authorizer lets the caller touch it. */
  async function require(call: ApiCall, action: "read" | "update" | "delete", value: JsonObject = {}) {
    const id = call.vars.cron_id as string;
    const allowed = await call.authorize(on(action), { ...value, cron_id: id });
    const schedule = await schedules.get(call.scope, id);
    if (!schedule || !matchesFilter(schedule.metadata, allowed.filter)) throw notFound("Cron");
    return { schedule, value: allowed.value as JsonObject };
  }

  async function patch(call: ApiCall): Promise<ApiReply> {
    const { schedule, value } = await require(call, "update", readBody(call));
    const webhook = parts.readWebhook(value);
    // Later than before, so that a run that is about to begin does not move this schedule on.
    const updatedAt = Math.max(parts.wallTime(), schedule.updatedAt + 1);
    const changed = {
      ...schedule,
      ...readTimes(value, schedule),
      updatedAt,
      metadata: { ...schedule.metadata, ...readJsonObject(value, "metadata") },
      payload: { ...schedule.payload, ...pickRun(value), ...(webhook !== undefined && { webhook }) },
    };
    return { json: toCron(await save(call, changed), call) };
  }

  async function findMatching(
    call: ApiCall,
  ): Promise<{ readonly found: readonly Schedule[]; readonly body: JsonObject }> {
    const { value, filter } = await call.authorize(on("search"), { ...readBody(call) });
    const body = value as JsonObject;
    const assistant = readString(body, "assistant_id", "");
    const thread = readString(body, "thread_id", "");
    const metadata = readJsonObject(body, "metadata");
    const agent = assistant === undefined ? undefined : await assistants.find(call.scope, assistant);
    const found = (await schedules.list(call.scope)).filter(
      one =>
        (assistant === undefined ||
          one.payload.assistant_id === assistant ||
          one.agent === agent?.agent.name) &&
        (thread === undefined || one.contextId === thread) &&
        (typeof body.enabled !== "boolean" || one.isEnabled === body.enabled) &&
        contains(one.metadata, metadata) &&
        matchesFilter(one.metadata, filter),
    );
    return { found, body };
  }

  async function search(call: ApiCall): Promise<ApiReply> {
    const { found, body } = await findMatching(call);
    const page = readPage(body);
    const by = readChoice(body, "sort_by", SORTS) ?? "created_at";
    const isAscending = readChoice(body, "sort_order", ["asc", "desc"]) === "asc";
    const sorted = found
      .map(one => toCron(one, call))
      .sort((a, b) => compare(a[by], b[by]) * (isAscending ? 1 : -1))
      .slice(page.offset, page.offset + page.limit);
    const select = readSelect(body);
    return { json: sorted.map(one => pick(one, select)), headers: paginationHeaders(page, found.length) };
  }

  return [
    { verb: "POST", path: "/runs/crons", access: "write", serve: create },
    { verb: "POST", path: "/threads/{thread_id}/runs/crons", access: "write", serve: create },
    { verb: "POST", path: "/runs/crons/search", access: "read", serve: search },
    {
      verb: "POST",
      path: "/runs/crons/count",
      access: "read",
      serve: async call => ({ json: (await findMatching(call)).found.length }),
    },
    {
      verb: "GET",
      path: "/runs/crons/{cron_id}",
      access: "read",
      serve: async call => ({ json: toCron((await require(call, "read")).schedule, call) }),
    },
    { verb: "PATCH", path: "/runs/crons/{cron_id}", access: "write", serve: patch },
    {
      verb: "DELETE",
      path: "/runs/crons/{cron_id}",
      access: "write",
      async serve(call) {
        const { schedule } = await require(call, "delete");
        await schedules.delete(call.scope, schedule.id);
        return { status: 204 };
      },
    },
  ];
}

const compare = (a: Json | undefined, b: Json | undefined): number =>
  (a ?? "") === (b ?? "") ? 0 : String(a ?? "") < String(b ?? "") ? -1 : 1;

type Times = Pick<Schedule, "timezone" | "endAt" | "isEnabled"> & { readonly cron: string | undefined };

/** Members that are absent stay as they are; `end_time: null` clears the end. */
function readTimes(
  body: JsonObject,
  before: Times,
): Pick<Schedule, "cron" | "timezone" | "endAt" | "isEnabled"> {
  const cron = readString(body, "schedule", "") ?? before.cron;
  if (cron === undefined) throw invalidField("schedule", "is required");
  try {
    parseCron(cron);
  } catch (error) {
    throw new Fault("invalid-params", `schedule: ${(error as Error).message}`, { field: "schedule" });
  }
  const timezone = readString(body, "timezone", "") ?? before.timezone;
  if (!isTimezone(timezone))
    throw invalidField("timezone", "must be the name of a time zone, such as Europe/Berlin");
  const isEnabled = body.enabled ?? before.isEnabled;
  if (typeof isEnabled !== "boolean") throw invalidField("enabled", "must be true or false");
  return { cron, timezone, endAt: readEnd(body, before.endAt), isEnabled };
}

function readEnd({ end_time: end }: JsonObject, before: number | undefined): number | undefined {
  if (end === undefined) return before;
  if (end === null) return undefined;
  const at = typeof end === "string" ? Date.parse(end) : Number.NaN;
  if (Number.isNaN(at)) throw invalidField("end_time", "must be a time such as 2026-12-31T00:00:00Z");
  return at;
}

const pickRun = (body: JsonObject): JsonObject =>
  defined<Record<string, Json>>(
    Object.fromEntries(RUN_MEMBERS.map(name => [name, body[name] ?? undefined])) as Record<string, Json>,
  );

/** As it is on the wire. */
const toCron = (schedule: Schedule, { scope }: Pick<ApiCall, "scope">): Readonly<Record<string, Json>> => ({
  cron_id: schedule.id,
  assistant_id: schedule.payload.assistant_id ?? schedule.agent,
  thread_id: schedule.contextId ?? null,
  schedule: schedule.cron,
  timezone: schedule.timezone,
  end_time: schedule.endAt === undefined ? null : toIso(schedule.endAt),
  next_run_date: schedule.nextAt === undefined ? null : toIso(schedule.nextAt),
  enabled: schedule.isEnabled,
  on_run_completed: schedule.payload.on_run_completed ?? (schedule.contextId === undefined ? "delete" : null),
  payload: schedule.payload,
  metadata: schedule.metadata,
  user_id: scope.principal,
  created_at: toIso(schedule.createdAt),
  updated_at: toIso(schedule.updatedAt),
});
