import type { Json } from "../lib/json.ts";
import { Fault, LIMITS, type Scope, type Trace, toFault } from "../model/index.ts";
import type {
  Answer,
  Authenticated,
  Authenticator,
  Caller,
  CallObserver,
  Catalog,
  Dialect,
  ExecuteOperation,
  Headers,
  Log,
  Observer,
  Operation,
  Pipeline,
  Principal,
  ReplyContext,
  UnreadBytes,
  VisibleAgents,
  WireCall,
  WireReply,
} from "../ports/index.ts";
import { isSteps } from "../ports/operation.ts";
import { Frames, type Heard, type Speaker } from "./reply-stream.ts";

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
  guard: Authenticator;
  core: ExecuteOperation;
  catalog: Catalog;
  /** Bytes of one call of this caller. */
  bodyBytesMax: (scope: Scope) => number;
  /** The room for large answers. */
  unread: UnreadBytes;
  /** undefined: nobody watches. */
  watch: Observer | undefined;
  log: Log;
}): Pipeline {
  const { dialects, guard, core, catalog, unread, watch, log } = parts;

  const byName = new Map(dialects.map(dialect => [dialect.name, dialect]));
  const choose = (call: WireCall): Dialect =>
    dialects.find(dialect => dialect.claims(call)) ?? (dialects[0] as Dialect);
  const voiceOf = (dialect: Dialect, call: ReplyContext, origin: string | undefined): Dialect =>
    (origin !== undefined && byName.get(dialect.replyDialect(call, origin))) || dialect;

  function hear(call: WireCall): Heard {
    const dialect = choose(call);
    return { call, dialect, watched: watch?.begin(call, dialect.name) };
  }

  function refusal({ call, dialect, watched }: Heard, error: unknown): WireReply & { kind: "fault" } {
    const fault = toFault(error);
    watched?.refused(fault);
    if (fault.code === "internal" || fault.cause) {
      const facts = { err: fault.cause ?? fault, method: call.method, dialect: dialect.name };
      log.error({ ...facts, ...watched?.facts() }, "a call failed");
    }
    return {
      kind: "fault",
      envelope: dialect.envelope,
      headers: { ...dialect.replyHeaders(call, []), ...headersOf(fault), ...watched?.headers() },
      fault: dialect.encodeFault(fault, call),
    };
  }

  const speaker: Speaker = {
    voiceOf,
    refuse: (heard, error) => refusal(heard, error).fault,
    hold: (scope, bytes) => unread.hold(scope, bytes),
  };

  function meet(caller: Caller, agent: string | undefined): Authenticated | Promise<Authenticated> {
    const toMet = (principal: Principal | undefined): Authenticated =>
      principal || guard.allowsAnonymous(agent)
        ? { principal }
        : { principal: guard.requirePrincipal(principal) };
    const found = guard.authenticate(caller);
    return found instanceof Promise ? found.then(toMet) : toMet(found);
  }

  /** One function and not two: what stands in between would cost every call a turn. */
  async function handle(call: WireCall, met: Authenticated | undefined): Promise<WireReply> {
    const heard = hear(call);
    let reply: WireReply;
    try {
      const { dialect, watched } = heard;
      const identified = met ? met.principal : guard.authenticate(call);
      // To wait for what is already there would cost every call a turn.
      const principal = identified instanceof Promise ? await identified : identified;
      const asked = withCaller(withHeaders(dialect.decode(call), call), guard, principal);
      const scope = guard.authorize(principal, asked);
      checkSize(call, parts.bodyBytesMax(scope));
      const operation = watched ? watched.asked(asked, scope) : asked;
      if (unread.bytes > 0 && operation.op === "send") unread.checkRoom(scope);
      const answer = await core(operation, scope, call.signal);
      const checked = principal && operation.op === "send" ? guard.checkPrincipal(principal) : undefined;
      if (checked) await checked;
      const active = activeExtensions(catalog.visibleTo(scope), operation);
      const { envelope } = dialect;
      if (isSteps(answer)) {
        const own = answer.compacted
          ? { ...dialect.replyHeaders(call, active), ...COMPACTED }
          : dialect.replyHeaders(call, active);
        const frames = new Frames(speaker, { ...heard, call: mannerOf(call) }, operation.form, answer, scope);
        if (principal && guard.schemes.length > 0) frames.leash(cut => guard.onExpire(principal, cut));
        return { kind: "many", envelope, headers: withOthers(own, watched), frames };
      }
      const voice = voiceOf(dialect, call, originOf(answer));
      const own = voice.replyHeaders(call, active);
      const headers = withOthers(withCaching(own, operation, guard, principal), watched);
      if (unread.bytes > 0) unread.check(scope, answer);
      const json = JSON.stringify(voice.encode(operation, answer));
      const release =
        json.length > LIMITS.pieceBytes ? unread.hold(scope, Buffer.byteLength(json)) : undefined;
      watched?.answered(answer);
      reply = release
        ? { kind: "one", envelope, headers, json, release }
        : { kind: "one", envelope, headers, json };
    } catch (error) {
      reply = refusal(heard, error);
    }
    heard.watched?.ended();
    return reply;
  }

  return {
    refuse(call, fault) {
      const heard = hear(call);
      const reply = refusal(heard, fault);
      heard.watched?.ended();
      return reply;
    },
    authenticate: meet,
    handle,
  };
}

const mannerOf = ({ transport, endpoint, headers, query, method }: WireCall): ReplyContext => {
  return { transport, endpoint, headers, query, method };
};

type ReplyHeaders = WireReply["headers"];

function withOthers(headers: ReplyHeaders, watched: CallObserver | undefined): ReplyHeaders {
  const others = watched?.headers();
  return others ? { ...headers, ...others } : headers;
}

function checkSize({ bytes }: WireCall, bytesMax: number): void {
  if (bytes > bytesMax) throw new Fault("too-large", `Calls of this caller may have ${bytesMax} bytes`);
}

/** v1 §3.1.11: the extended card is for those who are known. */
function withCaller(operation: Operation, guard: Authenticator, principal: Principal | undefined): Operation {
  if (operation.op !== "extended-card") return operation;
  return { ...operation, grants: guard.requirePrincipal(principal).grants };
}

/** What is meant for one caller is kept by nobody; what may look different for others is kept by nobody else. */
function withCaching(
  headers: ReplyHeaders,
  { op }: Operation,
  { schemes }: Authenticator,
  principal: Principal | undefined,
): ReplyHeaders {
  if (op === "extended-card") return { ...headers, ...PRIVATE };
  if ((op !== "card" && op !== "agents") || schemes.length === 0) return headers;
  return { ...headers, ...(principal ? OWN : FOR_ALL) };
}
const FOR_ALL = { Vary: "Authorization" };
const OWN = { ...FOR_ALL, "Cache-Control": "private, no-cache" };
const PRIVATE = { ...FOR_ALL, "Cache-Control": "private, no-store" };

/** What every sending operation of every dialect takes from the call: a key (D10), its place in a trace, how it came. */
function withHeaders(operation: Operation, call: WireCall): Operation {
  if (operation.op !== "send" && operation.op !== "stream") return operation;
  const { "idempotency-key": key, traceparent, "dragoman-hops": passed } = call.headers;
  const via = call.transport === "rest" || call.transport === "grpc" ? call.transport : undefined;
  const thread = operation.send.thread ?? readThread(operation.send.metadata?.thread_id);
  if (key === undefined && traceparent === undefined && passed === undefined && !via && !thread)
    return operation;
  const trace = traceparent === undefined ? undefined : readTrace(traceparent, call.headers);
  const hops = passed === undefined ? undefined : readHops(passed);
  const known = { ...(key !== undefined && { key: checkKey(key) }), ...(thread !== undefined && { thread }) };
  const way = { ...(trace && { trace }), ...(hops && { hops }), ...(via && { via }) };
  return { ...operation, send: { ...operation.send, ...known, ...way } };
}

const readHops = (passed: string): number | undefined =>
  /^\d{1,4}$/.test(passed) ? Number(passed) : undefined;

/** Where no dialect has a place of its own for it, callers put it into the metadata. */
const readThread = (said: Json | undefined): string | undefined =>
  typeof said === "string" && said !== "" && said.length <= LIMITS.idCharsMax && said.isWellFormed()
    ? said
    : undefined;

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
  const { retryAfterMs, challenge } = details;
  return {
    ...(retryAfterMs !== undefined && { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) }),
    ...(challenge !== undefined && { "WWW-Authenticate": challenge }),
  };
}

/** v1 §3.3.4: what the caller asked for and the agent has. */
function activeExtensions(catalog: VisibleAgents, operation: Operation): readonly string[] {
  if (operation.op !== "send" && operation.op !== "stream") return [];
  const wanted = operation.send.extensions;
  if (wanted.length === 0) return wanted;
  const known = catalog.find(operation.agent)?.card.extensions ?? [];
  return wanted.filter(uri => known.some(one => one.uri === uri));
}

/** What a reader wanted to go on from is no longer kept: it begins with the task as it stands. */
const COMPACTED = { "Dragoman-Resumed": "snapshot" };

/** The dialect of whoever made what is answered. */
function originOf(answer: Answer): string | undefined {
  if (answer.kind === "task") return answer.task.origin;
  return answer.kind === "push" ? answer.config.origin : undefined;
}
