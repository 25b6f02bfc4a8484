/** The routes of runs. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { LIMITS } from "../model/index.ts";
import type { Catalog, Store } from "../ports/index.ts";
import { checkJson, invalidField } from "../protocol/shared/fields.ts";
import { matchesFilter } from "./authorize.ts";
import { notFound } from "./faults.ts";
import { pick, readChoice, readFlag, readPage } from "./fields.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";
import { readModes, STREAM_MODES } from "./run-body.ts";
import { createCancelRoutes } from "./run-cancel.ts";
import type { CreatedRun, RunCreation } from "./run-create.ts";
import type { FoundRun, RunRecords } from "./run-records.ts";
import type { RunStreams } from "./run-stream.ts";
import { withHeartbeat } from "./sse.ts";
import type { ThreadRecords } from "./thread-records.ts";
import { requireThread } from "./threads.ts";

export interface RunRouteParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
  readonly creation: RunCreation;
  readonly streams: RunStreams;
  /** Readers of the whole thread are woken. */
  readonly onCreated: (threadId: string) => void;
}

/** While a run is waited for, newlines keep the connection open. */
const WAIT_BEAT_MS = 1_000;

export function createRunRoutes(parts: RunRouteParts): readonly ApiRoute[] {
  const { threads, runs, creation, streams } = parts;
  const threadOf = ({ vars }: ApiCall): string | undefined => vars.thread_id;

  async function requireRun(call: ApiCall, action: "read" | "update" | "delete"): Promise<FoundRun> {
    const id = call.vars.run_id as string;
    if (threadOf(call) !== undefined)
      return runs.require(call.scope, await requireThread(threads, call, action), id);
    const run = await runs.requireAnywhere(call.scope, id);
    const { filter } = await call.authorize({ resource: "threads", action }, { thread_id: run.thread.id });
    if (!matchesFilter(run.thread.metadata, filter)) throw notFound("Run");
    return run;
  }

  /** The id of a run, and where a client that lost its connection goes on. */
  function locations(call: ApiCall, { run }: CreatedRun, joined: "stream" | "join"): Record<string, string> {
    const path = `/threads/${run.thread.id}/runs/${run.id}`;
    const location = threadOf(call) === undefined ? `/runs/${run.id}` : path;
    return { "Content-Location": location, Location: `${path}/${joined}` };
  }

  /** A webhook reports the end of the run after its caller has read it. */
  const onEndOf = (call: ApiCall, { run, body }: CreatedRun): (() => Promise<void>) | undefined =>
    run.thread.temporary && body.webhook === undefined
      ? () => threads.remove(call.scope, run.thread.id)
      : undefined;

  async function start(call: ApiCall): Promise<CreatedRun> {
    const created = await creation.create(call, threadOf(call), readBody(call));
    parts.onCreated(created.run.thread.id);
    return created;
  }

  async function create(call: ApiCall): Promise<ApiReply> {
    const created = await start(call);
    return { json: runs.toJson(created.run), headers: locations(call, created, "join") };
  }

  async function stream(call: ApiCall): Promise<ApiReply> {
    const created = await start(call);
    const { modes, onDisconnect } = created.body;
    const onEnd = onEndOf(call, created);
    const request = {
      modes,
      after: undefined,
      cancelOnDisconnect: onDisconnect === "cancel",
      ...(onEnd && { onEnd }),
    };
    return streams.stream(call, created.run, request, locations(call, created, "stream"));
  }

  /** The status is known before the result: errors of the run are part of the body. */
  function waitFor(
    call: ApiCall,
    run: FoundRun,
    headers: Record<string, string>,
    cancelOnDisconnect: boolean,
    onEnd?: () => Promise<void>,
  ): ApiReply {
    async function* read(): AsyncGenerator<string> {
      const end = await streams.waitForEnd(call, run, cancelOnDisconnect);
      if (!end) return;
      const result = await streams.readResult(call, run, end);
      await onEnd?.();
      yield JSON.stringify(result);
    }
    const text = withHeartbeat(read(), { everyMs: WAIT_BEAT_MS, firstMs: WAIT_BEAT_MS, text: "\n" });
    return { headers: { "Content-Type": "application/json", ...headers }, stream: text };
  }

  async function wait(call: ApiCall): Promise<ApiReply> {
    const created = await start(call);
    const cancels = created.body.onDisconnect === "cancel";
    return waitFor(call, created.run, locations(call, created, "join"), cancels, onEndOf(call, created));
  }

  async function joinStream(call: ApiCall): Promise<ApiReply> {
    const run = await requireRun(call, "read");
    const asked = call.query.getAll("stream_mode").flatMap(value => value.split(","));
    const stored = run.request?.kwargs.stream_mode;
    const modes = asked.length > 0 ? readModes(asked) : stored ? readModes(stored) : [...STREAM_MODES];
    const cancelOnDisconnect = readFlag(call.query, "cancel_on_disconnect");
    const request = { modes, after: readLastId(call), cancelOnDisconnect };
    const path = `/threads/${run.thread.id}/runs/${run.id}`;
    return streams.stream(call, run, request, { "Content-Location": path, Location: `${path}/stream` });
  }

  async function list(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "read");
    const query = Object.fromEntries(call.query) as JsonObject;
    const { limit, offset } = readPage(query);
    const status = readChoice(query, "status", [
      "pending",
      "running",
      "error",
      "success",
      "timeout",
      "interrupted",
    ]);
    const select = call.query.getAll("select");
    const all = (await runs.list(call.scope, thread)).map(runs.toJson);
    const found = all.filter(run => status === undefined || run.status === status);
    const shown = found.slice(offset, offset + limit);
    return { json: shown.map(run => pick(run, select.length > 0 ? select : undefined)) };
  }

  async function batch(call: ApiCall): Promise<ApiReply> {
    const { body } = call;
    if (!Array.isArray(body) || body.length === 0 || body.length > LIMITS.listEntriesMax)
      throw invalidField("body", `must be an array of 1 to ${LIMITS.listEntriesMax} runs`);
    checkJson(body, "body");
    const made = [];
    for (const one of body as readonly Json[]) {
      if (!isObject(one)) throw invalidField("body", "must be an array of runs");
      made.push(runs.toJson((await creation.create(call, undefined, one)).run));
    }
    return { json: made };
  }

  const path = "/threads/{thread_id}/runs";
  return [
    { verb: "POST", path: "/runs", access: "write", serve: create },
    { verb: "POST", path: "/runs/stream", access: "write", serve: stream },
    { verb: "POST", path: "/runs/wait", access: "write", serve: wait },
    { verb: "POST", path: "/runs/batch", access: "write", serve: batch },
    { verb: "POST", path, access: "write", serve: create },
    { verb: "GET", path, access: "read", serve: list },
    { verb: "POST", path: `${path}/stream`, access: "write", serve: stream },
    { verb: "POST", path: `${path}/wait`, access: "write", serve: wait },
    {
      verb: "GET",
      path: `${path}/{run_id}`,
      access: "read",
      serve: async call => ({ json: runs.toJson(await requireRun(call, "read")) }),
    },
    { verb: "GET", path: `${path}/{run_id}/stream`, access: "read", serve: joinStream },
    { verb: "GET", path: "/runs/{run_id}/stream", access: "read", serve: joinStream },
    {
      verb: "GET",
      path: `${path}/{run_id}/join`,
      access: "read",
      serve: async call =>
        waitFor(call, await requireRun(call, "read"), {}, readFlag(call.query, "cancel_on_disconnect")),
    },
    ...createCancelRoutes({ ...parts, requireRun }),
  ];
}

/** `-1` and `-`: from the beginning. Without the header only what comes from now on. */
function readLastId({ headers }: ApiCall): string | "now" | undefined {
  const last = headers["last-event-id"];
  if (last === undefined || last === "") return "now";
  if (last === "-1" || last === "-") return undefined;
  if (/^\d{1,15}(?:\.\d{1,6})?$/.test(last)) return last;
  throw invalidField("Last-Event-ID", "must be the id of an event of this stream, -1 or -");
}
