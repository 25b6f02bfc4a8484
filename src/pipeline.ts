import { createFrameWriter } from "./frames.ts";
import { Fault, LIMITS, type Task, type Trace, toFault } from "./model/index.ts";
import type {
  Answer,
  Catalog,
  Core,
  Dialect,
  Frame,
  Guard,
  Headers,
  Log,
  Operation,
  Pipeline,
  Steps,
  WireCall,
  WireReply,
} from "./ports.ts";

/**
 * One call from start to end; the first file to read.
 *
 *   1 which dialect speaks   (endpoint, headers, method name)
 *   2 who calls              (headers only)
 *   3 what is asked          (dialect.decode → Operation; a key for repeated calls)
 *   4 for whom               (guard.admit → Scope)
 *   5 do it                  (core: append to the log, read from the log)
 *   6 say it                 (dialect.encode)
 */
export function createPipeline(parts: {
  dialects: readonly Dialect[];
  guard: Guard;
  core: Core;
  catalog: Catalog;
  log: Log;
}): Pipeline {
  const { dialects, guard, core, catalog, log } = parts;

  const byName = new Map(dialects.map(dialect => [dialect.name, dialect]));
  const choose = (call: WireCall): Dialect =>
    dialects.find(dialect => dialect.claims(call)) ?? (dialects[0] as Dialect);
  const voiceOf = (dialect: Dialect, call: WireCall, task: Task | undefined): Dialect =>
    (task && byName.get(dialect.voice(call, task.origin))) || dialect;

  function refusal(dialect: Dialect, call: WireCall, error: unknown): WireReply {
    const fault = toFault(error);
    if (fault.code === "internal" || fault.cause)
      log.error({ err: fault.cause ?? fault, method: call.method, dialect: dialect.name }, "a call failed");
    return {
      kind: "fault",
      envelope: dialect.envelope,
      headers: { ...dialect.replyHeaders(call, []), ...headersOf(fault) },
      fault: dialect.encodeFault(fault, call),
    };
  }

  async function* toFrames(
    dialect: Dialect,
    call: WireCall,
    form: string | undefined,
    steps: Steps,
  ): AsyncGenerator<readonly Frame[]> {
    let write: ReturnType<typeof createFrameWriter> | undefined;
    try {
      for await (const bunch of steps) {
        write ??= createFrameWriter(voiceOf(dialect, call, bunch.steps[0]?.task), form);
        const frames = write(bunch.steps, bunch.closing);
        if (frames.length > 0) yield frames;
      }
    } catch (error) {
      const reply = refusal(dialect, call, error);
      if (reply.kind === "fault") yield [{ json: "", fault: reply.fault }];
    }
  }

  return {
    refuse: (call, fault) => refusal(choose(call), call, fault),
    async handle(call) {
      const dialect = choose(call);
      try {
        const identified = guard.identify(call);
        // To wait for what is already there would cost every call a turn.
        const principal = identified instanceof Promise ? await identified : identified;
        const operation = withHeaders(dialect.decode(call), call);
        const scope = guard.admit(principal, operation);
        const answer = await core(operation, scope, call.signal);
        const active = activeExtensions(catalog, operation);
        const { envelope } = dialect;
        if (isSteps(answer)) {
          const own = dialect.replyHeaders(call, active);
          const headers = answer.compacted ? { ...own, ...COMPACTED } : own;
          return { kind: "many", envelope, headers, frames: toFrames(dialect, call, operation.form, answer) };
        }
        const voice = answer.kind === "task" ? voiceOf(dialect, call, answer.task) : dialect;
        const headers = voice.replyHeaders(call, active);
        return { kind: "one", envelope, headers, json: JSON.stringify(voice.encode(operation, answer)) };
      } catch (error) {
        return refusal(dialect, call, error);
      }
    },
  };
}

/** What every sending operation of every dialect takes from the headers: a key (D10), and its place in a trace. */
function withHeaders(operation: Operation, call: WireCall): Operation {
  const { "idempotency-key": key, traceparent } = call.headers;
  if (key === undefined && traceparent === undefined) return operation;
  if (operation.op !== "send" && operation.op !== "stream") return operation;
  const trace = traceparent === undefined ? undefined : readTrace(traceparent, call.headers);
  return {
    ...operation,
    send: { ...operation.send, ...(key !== undefined && { key: checkKey(key) }), ...(trace && { trace }) },
  };
}

function checkKey(key: string): string {
  if (key.trim() !== "" && key.length <= LIMITS.idCharsMax) return key;
  throw new Fault("invalid-params", `Idempotency-Key must have 1 to ${LIMITS.idCharsMax} characters`, {
    field: "Idempotency-Key",
  });
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** W3C Trace Context §3.3.1.5, Baggage §3.3.2: longer ones need not be passed on. */
const TRACESTATE_CHARS_MAX = 512;
const BAGGAGE_CHARS_MAX = 8_192;

/** undefined: what does not look like one is no reason to refuse a call. */
function readTrace(traceparent: string, headers: Headers): Trace | undefined {
  if (!TRACEPARENT.test(traceparent)) return undefined;
  const { tracestate, baggage } = headers;
  return {
    traceparent,
    ...(tracestate !== undefined && tracestate.length <= TRACESTATE_CHARS_MAX && { tracestate }),
    ...(baggage !== undefined && baggage.length <= BAGGAGE_CHARS_MAX && { baggage }),
  };
}

/** RFC 9110 §10.2.3: whole seconds, and never too soon. */
function headersOf({ details }: Fault): Readonly<Record<string, string>> {
  const { retryAfterMs } = details;
  return retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) };
}

/** v1 §3.3.4: what the caller asked for and the agent has. */
function activeExtensions(catalog: Catalog, operation: Operation): readonly string[] {
  if (operation.op !== "send" && operation.op !== "stream") return [];
  const wanted = operation.send.extensions;
  if (wanted.length === 0) return wanted;
  const known = catalog.find(operation.agent)?.card.extensions ?? [];
  return wanted.filter(uri => known.some(one => one.uri === uri));
}

/** What a reader wanted to go on from is no longer kept: it begins with the task as it stands. */
const COMPACTED = { "Dragoman-Resumed": "snapshot" };

const isSteps = (answer: Answer | Steps): answer is Steps => Symbol.asyncIterator in answer;
