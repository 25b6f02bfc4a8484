/** Reads the turn of a run from the log: as a stream of events, or to its end. */
import { toAsyncIterable } from "../lib/batch-source.ts";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { isSettled, type Scope, type Seq, type Step } from "../model/index.ts";
import type { Authenticator, StepStream, Store } from "../ports/index.ts";
import { toMessages } from "./plain-messages.ts";
import type { ApiCall, ApiReply } from "./route.ts";
import type { StreamMode } from "./run-body.ts";
import { cancelTask } from "./run-control.ts";
import type { FoundRun } from "./run-records.ts";
import { SSE_HEADERS, toComments, toSse, withHeartbeat } from "./sse.ts";
import { isAfter, StreamProjection, toError } from "./stream-modes.ts";
import type { ThreadStates } from "./thread-state.ts";

export interface RunStreamParts {
  readonly store: Store;
  readonly states: ThreadStates;
  readonly authenticator: Authenticator;
  readonly heartbeatMs: number;
  /** false: the server is stopping. */
  readonly isOpen: () => boolean;
  /** Counts an open stream until the promise is settled. */
  readonly countStream: (writing: Promise<void>) => Promise<void>;
}

/** A run that waits for another one sends nothing yet, but its client needs the id, which is in the headers. */
const RUN_OPEN_MS = 1_000;

export interface StreamRequest {
  readonly modes: readonly StreamMode[];
  /** The position that the client has seen last; "now": only what comes from now on. */
  readonly after: string | "now" | undefined;
  readonly cancelOnDisconnect: boolean;
  /** Called when the run has ended and was read to its end. */
  readonly onEnd?: () => Promise<void>;
}

export interface RunEnd {
  readonly step: Step;
  /** The last values that the graph has streamed; undefined: none were asked for. */
  readonly output: JsonObject | undefined;
}

export function createRunStreams(parts: RunStreamParts) {
  const { store, states } = parts;

  /** All steps of the turn, from its message to its end. */
  async function* readTurn(call: ApiCall, { task, seq, agent }: FoundRun): AsyncGenerator<Step> {
    const from = (seq - 1) as Seq;
    const operation = {
      agent: agent.name,
      taskId: task.id,
      from,
      until: "settled",
      ended: "snapshot",
    } as const;
    const steps = (await call.execute({ op: "subscribe", ...operation })) as StepStream;
    const signal = withExpiry(call);
    for await (const batch of toAsyncIterable(steps, signal)) yield* batch.steps;
  }

  /** A stream ends when the credentials of its reader do. */
  function withExpiry({ principal, signal }: ApiCall): AbortSignal {
    const { authenticator } = parts;
    if (!principal || authenticator.schemes.length === 0) return signal();
    const expired = new AbortController();
    const stop = authenticator.onExpire(principal, () => expired.abort());
    signal().addEventListener("abort", stop, { once: true });
    return AbortSignal.any([signal(), expired.signal]);
  }

  /** Of an agent that is no graph: what was said in the context before this task. */
  async function readEarlier(scope: Scope, { agent, task }: FoundRun): Promise<readonly JsonObject[]> {
    if (agent.graph) return [];
    const filter = { contextId: task.contextId, pageSize: 100 };
    const { tasks } = await store.tasks.list(scope, agent.name, filter);
    const before = tasks.filter(one => one.id < task.id).sort((a, b) => (a.id < b.id ? -1 : 1));
    return before.flatMap(toMessages);
  }

  async function* toTexts(call: ApiCall, run: FoundRun, request: StreamRequest): AsyncGenerator<string> {
    const projection = new StreamProjection({
      run,
      modes: request.modes,
      earlier: await readEarlier(call.scope, run),
    });
    const newest =
      request.after === "now" ? (await store.tasks.get(call.scope, run.task.id))?.seq : undefined;
    const after = newest === undefined ? request.after : `${newest}.999`;
    let isEnded = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    void parts.countStream(promise);
    try {
      for await (const step of readTurn(call, run)) {
        call.observer?.onSteps([step]);
        for (const event of projection.next(step)) if (isAfter(event.id, after)) yield toSse(event);
        if (isSettled(step.task.status.state)) isEnded = true;
      }
      if (isEnded) await request.onEnd?.();
    } finally {
      resolve();
      if (!isEnded && request.cancelOnDisconnect) cancelAbandoned(call, run);
    }
  }

  /** A server that is stopping closes connections as well: that cancels nothing. */
  function cancelAbandoned(call: ApiCall, run: FoundRun): void {
    if (call.signal().aborted && parts.isOpen()) cancelTask(call, run.task).catch(() => {});
  }

  return {
    readTurn,
    readEarlier,
    stream(
      call: ApiCall,
      run: FoundRun,
      request: StreamRequest,
      headers: Readonly<Record<string, string>>,
    ): ApiReply {
      const heartbeat = toComments(parts.heartbeatMs, RUN_OPEN_MS);
      const stream = withHeartbeat(toTexts(call, run, request), heartbeat);
      return { headers: { ...SSE_HEADERS, ...headers }, stream };
    },

    /** Waits for the end of the run; null: the caller is gone. */
    async waitForEnd(call: ApiCall, run: FoundRun, cancelOnDisconnect = false): Promise<RunEnd | null> {
      let last: Step | null = null;
      let output: JsonObject | undefined;
      for await (const step of readTurn(call, run)) {
        last = step;
        output = outputOf(step) ?? output;
      }
      if (last && isSettled(last.task.status.state)) return { step: last, output };
      if (cancelOnDisconnect) cancelAbandoned(call, run);
      return null;
    },

    /** What a run has produced: the values of the graph, or the error. */
    async readResult(call: ApiCall, run: FoundRun, { step, output }: RunEnd): Promise<Json> {
      const { status } = step.task;
      if (status.state === "failed" || status.state === "rejected") return { __error__: toError(status) };
      if (output && status.state === "completed") return output;
      const { values, interrupts } = await states.readRunState(call.scope, run);
      const shown = output ?? values;
      return interrupts.length > 0 ? { ...shown, __interrupt__: interrupts } : shown;
    },
  };
}

/** Interrupts are streamed as values without any member of the state. */
function outputOf({ event }: Step): JsonObject | undefined {
  const isOutput = event?.type === "chunk" && event.mode === "values" && event.ns === undefined;
  return isOutput && isObject(event.data) && !("__interrupt__" in event.data) ? event.data : undefined;
}

export type RunStreams = ReturnType<typeof createRunStreams>;
