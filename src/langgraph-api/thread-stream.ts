/** The stream of a thread: the events of all its runs, one after the other, in the form of the stream of a run. */
import { isSettled } from "../model/index.ts";
import type { ThreadSnapshot } from "../ports/index.ts";
import { invalidField } from "../protocol/shared/fields.ts";
import type { ApiCall, ApiReply, ApiRoute } from "./route.ts";
import { readModes, STREAM_MODES } from "./run-body.ts";
import type { FoundRun } from "./run-records.ts";
import type { RunStreams } from "./run-stream.ts";
import { SSE_HEADERS, toComments, toSse, withHeartbeat } from "./sse.ts";
import { isAfter, type StreamEvent, StreamProjection } from "./stream-modes.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";
import type { ThreadRuns } from "./thread-runs.ts";
import type { ThreadStates } from "./thread-state.ts";
import { requireThread } from "./threads.ts";

export interface ThreadStreamParts {
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  readonly streams: RunStreams;
  readonly threadRuns: ThreadRuns;
  readonly heartbeatMs: number;
}

const THREAD_MODES = ["run_modes", "lifecycle", "state_update"] as const;
type ThreadMode = (typeof THREAD_MODES)[number];

/** The run and the position in it after which a reader goes on; "now": only what comes from now on. */
type Position = { readonly runId: string; readonly after: string } | "start" | "now";

export function createThreadStreamRoutes(parts: ThreadStreamParts): readonly ApiRoute[] {
  const { threads, states, streams, threadRuns } = parts;

  async function* readRun(
    call: ApiCall,
    run: FoundRun,
    after: string | undefined,
  ): AsyncGenerator<StreamEvent> {
    const stored = run.request?.kwargs.stream_mode;
    const modes = stored ? readModes(stored) : [...STREAM_MODES];
    const earlier = await streams.readEarlier(call.scope, run);
    const projection = new StreamProjection({ run, modes, earlier });
    for await (const step of streams.readTurn(call, run)) {
      for (const event of projection.next(step)) if (isAfter(event.id, after)) yield event;
      const end = `${step.seq}.${PARTS_MAX}`;
      if (isSettled(step.task.status.state) && isAfter(end, after))
        yield { id: end, event: "metadata", data: { status: "run_done", run_id: run.id } };
    }
  }

  async function* read(
    call: ApiCall,
    thread: FoundThread,
    modes: ReadonlySet<ThreadMode>,
    position: Position,
  ): AsyncGenerator<string> {
    const updates = modes.has("state_update") ? await followUpdates(call, thread) : undefined;
    for await (const next of threadRuns.follow(call, thread.id, all => startOf(all, position))) {
      const update = await updates?.();
      if (update) yield toSse({ event: "state_update", data: { state: update, thread_id: thread.id } });
      if (!next) continue;
      for await (const { id, event, data } of readRun(call, next.run, afterOf(next.run, position)))
        if (modes.has("run_modes") || (modes.has("lifecycle") && event === "metadata"))
          yield toSse({ id: `${next.run.id}:${id}`, event, data });
    }
  }

  /** The state that an update has written since the last look, if there is one. */
  async function followUpdates(
    call: ApiCall,
    thread: FoundThread,
  ): Promise<() => Promise<ThreadSnapshot | undefined>> {
    const readNewest = () => states.readState(call.scope, thread, undefined, false);
    let seen = (await readNewest()).checkpoint.checkpoint_id;
    return async () => {
      const state = await readNewest();
      const isNew = state.checkpoint.checkpoint_id !== seen;
      seen = state.checkpoint.checkpoint_id;
      return isNew && UPDATES.has(String(state.metadata.source)) ? state : undefined;
    };
  }

  async function serve(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "read");
    const texts = read(call, thread, readThreadModes(call), readPosition(call));
    const heartbeat = toComments(parts.heartbeatMs, 0);
    const headers = { ...SSE_HEADERS, Location: `/threads/${thread.id}/stream` };
    return { headers, stream: withHeartbeat(texts, heartbeat) };
  }

  return [{ verb: "GET", path: "/threads/{thread_id}/stream", access: "read", serve }];
}

/** Behind all parts of an event. */
const PARTS_MAX = 999;
const UPDATES: ReadonlySet<string> = new Set(["update", "fork"]);

function startOf(all: readonly FoundRun[], position: Position): number {
  if (position === "start") return 0;
  if (position !== "now") {
    const at = all.findIndex(run => run.id === position.runId);
    // The run was deleted: everything that is left comes again, rather than nothing.
    return at === -1 ? 0 : at;
  }
  const active = all.findIndex(run => run.isCurrent && !isSettled(run.task.status.state));
  return active === -1 ? all.length : active;
}

const afterOf = ({ id }: FoundRun, position: Position): string | undefined =>
  typeof position === "object" && position.runId === id ? position.after : undefined;

/** The document says `stream_modes`, the client `stream_mode`. */
function readThreadModes({ query }: ApiCall): ReadonlySet<ThreadMode> {
  const asked = [...query.getAll("stream_modes"), ...query.getAll("stream_mode")].flatMap(one =>
    one.split(","),
  );
  const unknown = asked.find(one => !THREAD_MODES.includes(one as ThreadMode));
  if (unknown !== undefined)
    throw invalidField("stream_modes", `must be one or several of ${THREAD_MODES.join(", ")}`);
  return new Set(asked.length > 0 ? (asked as ThreadMode[]) : ["run_modes"]);
}

function readPosition({ headers }: ApiCall): Position {
  const last = headers["last-event-id"];
  if (last === undefined || last === "") return "now";
  if (last === "-1" || last === "-") return "start";
  const [, runId, after] = /^(.{1,200}):(\d{1,15}\.\d{1,6})$/s.exec(last) ?? [];
  if (runId === undefined || after === undefined)
    throw invalidField("Last-Event-ID", "must be the id of an event of this stream, - or -1");
  return { runId, after };
}
