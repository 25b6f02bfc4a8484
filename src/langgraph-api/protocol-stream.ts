/** The events of a thread over all its runs, numbered: a stream that stays open, and can be resumed from any number. */

import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { isSettled, LIMITS, type Seq } from "../model/index.ts";
import type { Store } from "../ports/index.ts";
import { invalidField, readInteger, readStrings } from "../protocol/shared/fields.ts";
import { matchesFilter } from "./authorize.ts";
import { notFound } from "./faults.ts";
import type { ProtocolEvent } from "./protocol-event.ts";
import { ProtocolProjection } from "./protocol-events.ts";
import { type ApiCall, type ApiReply, readBody } from "./route.ts";
import type { FoundRun, RunRecords } from "./run-records.ts";
import type { RunStreams } from "./run-stream.ts";
import { SSE_HEADERS, toComments, withHeartbeat } from "./sse.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";
import type { ThreadRuns } from "./thread-runs.ts";

export interface ProtocolStreamParts {
  readonly store: Pick<Store, "log">;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
  readonly threadRuns: ThreadRuns;
  readonly streams: RunStreams;
  readonly heartbeatMs: number;
  readonly wallTime: () => number;
}

interface Filter {
  readonly channels: ReadonlySet<string>;
  readonly namespaces: readonly (readonly string[])[] | undefined;
  readonly depth: number;
  readonly since: number | undefined;
}

/** The number of an event: of the run in its thread, of the event in the log, and of the part. */
const RUN_FACTOR = 1_000_000_000;
const STEP_FACTOR = 100;
/** A reader that comes just after a run still gets it: clients open several streams for one run. */
const RECENT_MS = 30_000;

export function createProtocolStreams(parts: ProtocolStreamParts) {
  const { runs, streams, threadRuns } = parts;

  async function* readRun(
    call: ApiCall,
    run: FoundRun,
    index: number,
  ): AsyncGenerator<readonly [number, number, ProtocolEvent]> {
    const projection = new ProtocolProjection({ run, earlier: await streams.readEarlier(call.scope, run) });
    for await (const step of streams.readTurn(call, run)) {
      let nth = 0;
      for (const event of projection.next(step))
        yield [
          index * RUN_FACTOR + step.seq * STEP_FACTOR + Math.min(nth++, STEP_FACTOR - 1),
          step.at,
          event,
        ];
    }
  }

  /** The first run that a reader gets. */
  function startOf(all: readonly FoundRun[], since: number | undefined): number {
    if (since !== undefined) return Math.floor(since / RUN_FACTOR);
    const isOld = ({ task, isCurrent }: FoundRun): boolean =>
      !isCurrent || (isSettled(task.status.state) && task.status.at < parts.wallTime() - RECENT_MS);
    const first = all.findIndex(run => !isOld(run));
    return first === -1 ? all.length : first;
  }

  async function* read(call: ApiCall, id: string, filter: Filter): AsyncGenerator<string> {
    for await (const next of threadRuns.follow(call, id, all => startOf(all, filter.since))) {
      if (!next) continue;
      for await (const [seq, at, event] of readRun(call, next.run, next.index)) {
        const isNew = filter.since === undefined || seq > filter.since;
        if (isNew && matches(event, filter)) yield toText(seq, at, event);
      }
    }
  }

  /** The stream may be opened before its thread exists, which then is the caller's own. */
  async function requireVisible(call: ApiCall, id: string): Promise<void> {
    const { filter } = await call.authorize({ resource: "threads", action: "read" }, { thread_id: id });
    const thread = await parts.threads.find(call.scope, id);
    if (thread && !matchesFilter(thread.metadata, filter)) throw notFound("Thread");
  }

  return {
    /** The events of a run so far. */
    async *readEvents(call: ApiCall, run: FoundRun): AsyncGenerator<ProtocolEvent> {
      const projection = new ProtocolProjection({ run, earlier: [] });
      for (let after = (run.seq - 1) as Seq; ; ) {
        const steps = await parts.store.log.read(call.scope, run.task.id, after, LIMITS.readMax);
        for (const step of steps) yield* projection.next(step);
        const last = steps.at(-1);
        if (!last) return;
        after = last.seq;
      }
    },
    async open(call: ApiCall): Promise<ApiReply> {
      const filter = readFilter(readBody(call));
      const id = call.vars.thread_id as string;
      await requireVisible(call, id);
      const heartbeat = toComments(parts.heartbeatMs, 0);
      return { headers: SSE_HEADERS, stream: withHeartbeat(read(call, id, filter), heartbeat) };
    },
    /** The number of the newest event that a reader of the thread may have. */
    async newestSeq(call: ApiCall, thread: FoundThread): Promise<number> {
      return Math.max(0, (await runs.list(call.scope, thread)).length - 1) * RUN_FACTOR;
    },
  };
}

export type ProtocolStreams = ReturnType<typeof createProtocolStreams>;

function toText(seq: number, timestamp: number, { method, namespace, node, data }: ProtocolEvent): string {
  const params = { namespace, timestamp, ...(node !== undefined && { node }), data };
  const event = { type: "event", event_id: String(seq), seq, method, params };
  return `id: ${seq}\nevent: ${method}\ndata: ${JSON.stringify(event)}\n\n`;
}

function matches(
  { method, namespace, data }: ProtocolEvent,
  { channels, namespaces, depth }: Filter,
): boolean {
  const channel = method === "input.requested" ? "input" : method;
  const isNamed = method === "custom" && isObject(data) && channels.has(`custom:${String(data.name)}`);
  if (!channels.has(channel) && !isNamed) return false;
  if (!namespaces) return namespace.length <= depth;
  return namespaces.some(
    prefix => prefix.every((part, i) => namespace[i] === part) && namespace.length - prefix.length <= depth,
  );
}

function readFilter(body: JsonObject): Filter {
  const channels = readStrings(body, "channels", "");
  if (!channels) throw invalidField("channels", "is required");
  const { namespaces } = body;
  const isValid =
    namespaces === undefined ||
    namespaces === null ||
    (Array.isArray(namespaces) &&
      namespaces.length <= 100 &&
      namespaces.every((one: Json) => Array.isArray(one) && one.every(part => typeof part === "string")));
  if (!isValid) throw invalidField("namespaces", "must be an array of arrays of strings");
  return {
    channels: new Set(channels),
    namespaces: (namespaces ?? undefined) as Filter["namespaces"],
    depth: readInteger(body, "depth", "", { min: 0, max: 1_000 }) ?? Number.POSITIVE_INFINITY,
    since: readSince(body.since),
  };
}

function readSince(value: Json | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidField("since", "must be the number of an event");
}
