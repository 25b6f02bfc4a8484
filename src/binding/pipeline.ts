import { isObject, type Json } from "../lib/json.ts";
import { Fault, LIMITS, type Scope, type Trace, toFault } from "../model/index.ts";
import type {
  Authenticator,
  Caller,
  CallObserver,
  Catalog,
  Dialect,
  ExecuteOperation,
  IncomingCall,
  Log,
  ObservedCall,
  Observer,
  Operation,
  OperationResult,
  Pipeline,
  Principal,
  ReplyContext,
  RequestHeaders,
  UnreadBytes,
  VisibleAgents,
  WireBody,
  WireCall,
  WireReply,
} from "../ports/index.ts";
import { isStepStream } from "../ports/operation.ts";
import { type CallContext, ReplyStream, type ReplyStreamParts } from "./reply-stream.ts";

export interface PipelineParts {
  readonly dialects: readonly Dialect[];
  readonly authenticator: Authenticator;
  readonly execute: ExecuteOperation;
  readonly catalog: Catalog;
  /** The size limit of one call of this caller, in bytes. */
  readonly bodyBytesMax: (scope: Scope) => number;
  /** Memory for large replies. */
  readonly unread: UnreadBytes;
  /** undefined: calls are not observed. */
  readonly observer: Observer | undefined;
  readonly log: Log;
}

/**
 * One call from start to end; the first file to read. `handle` takes these steps, for every binding:
 *
 *   1 authenticate           (headers only, before the body is read)
 *   2 read the body          (the binding: JSON-RPC, HTTP+JSON or gRPC)
 *   3 choose the dialect     (endpoint, headers, method name)
 *   4 decode                 (dialect.decode → Operation; idempotency key and trace from the headers)
 *   5 authorize              (authenticator.authorize → Scope)
 *   6 execute                (append to the log, read from the log)
 *   7 encode                 (dialect.encode → value; the binding's format → bytes)
 */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { dialects, authenticator, catalog, unread, log } = parts;

  const byName = new Map(dialects.map(dialect => [dialect.name, dialect]));
  const chooseDialect = (call: WireCall): Dialect =>
    dialects.find(dialect => dialect.claims(call)) ?? (dialects[0] as Dialect);
  const replyDialect = (dialect: Dialect, call: ReplyContext, origin: string | undefined): Dialect =>
    (origin !== undefined && byName.get(dialect.replyDialect(call, origin))) || dialect;

  const startCall = (call: ObservedCall, dialect: string): CallObserver | undefined =>
    parts.observer?.startCall(call, dialect);

  function toContext(call: WireCall): CallContext {
    const dialect = chooseDialect(call);
    return { call, dialect, observer: startCall(call, dialect.name) };
  }

  function recordFault(
    error: unknown,
    { method }: Pick<ObservedCall, "method">,
    dialect: string,
    observer?: CallObserver,
  ): Fault {
    const fault = toFault(error);
    observer?.onFault(fault);
    if (fault.code === "internal" || fault.cause)
      log.error({ err: fault.cause ?? fault, method, dialect, ...observer?.logFields() }, "a call failed");
    return fault;
  }

  function toFaultReply(context: CallContext, error: unknown): WireReply<never> & { kind: "fault" } {
    const { call, dialect, observer } = context;
    const fault = recordFault(error, call, dialect.name, observer);
    const encoded = dialect.encodeFault(fault, call);
    const own = { ...dialect.replyHeaders(call, []), ...encoded.headers };
    const headers = { ...own, ...faultHeaders(fault), ...observer?.headers() };
    return { kind: "fault", envelope: dialect.envelope, headers, fault: encoded };
  }

  const streamParts: ReplyStreamParts = {
    replyDialect,
    toWireFault: (context, error) => toFaultReply(context, error).fault,
    hold: (scope, bytes) => unread.hold(scope, bytes),
  };

  function authenticate(
    caller: Caller,
    agent: string | undefined,
  ): Principal | undefined | Promise<Principal | undefined> {
    const check = (principal: Principal | undefined): Principal | undefined =>
      principal || authenticator.allowsAnonymous(agent)
        ? principal
        : authenticator.requirePrincipal(principal);
    const found = authenticator.authenticate(caller);
    return found instanceof Promise ? found.then(check) : check(found);
  }

  function authorize(
    decoded: Operation,
    principal: Principal | undefined,
    observer: CallObserver | undefined,
    bytes = 0,
  ): { readonly operation: Operation; readonly scope: Scope } {
    const scope = authenticator.authorize(principal, decoded);
    const bytesMax = parts.bodyBytesMax(scope);
    if (bytes > bytesMax) throw new Fault("too-large", `Calls of this caller may have ${bytesMax} bytes`);
    return { operation: observer ? observer.onOperation(decoded, scope) : decoded, scope };
  }

  // One async function: splitting it would cost every call another turn of the microtask queue, and so would `await` on
  // a value that is already there.
  async function handle<Body extends WireBody>(incoming: IncomingCall<Body>): Promise<WireReply<Body>> {
    let principal: Principal | undefined;
    let call: WireCall;
    try {
      const { caller, agent, isPublic } = incoming;
      const found = isPublic ? authenticator.authenticate(caller) : authenticate(caller, agent);
      principal = found instanceof Promise ? await found : found;
      const read = incoming.read();
      call = read instanceof Promise ? await read : read;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const context = toContext(incoming.withoutBody());
      const refusal = toFaultReply(context, error);
      context.observer?.onEnd();
      return refusal;
    }
    const context = toContext(call);
    const { dialect, observer } = context;
    let reply: WireReply<Body>;
    try {
      const decoded = withPermissions(withHeaders(dialect.decode(call), call), authenticator, principal);
      const { operation, scope } = authorize(decoded, principal, observer, call.bytes);
      if (unread.bytes > 0 && operation.op === "send") unread.checkRoom(scope);
      const result = await parts.execute(operation, scope, call.signal);
      const checked = principal && waits(operation) ? authenticator.checkPrincipal(principal) : undefined;
      if (checked) await checked;
      const active = activeExtensions(catalog.visibleTo(scope), operation);
      const { envelope } = dialect;
      if (isStepStream(result)) {
        const own = dialect.replyHeaders(call, active);
        const headers = withObserver(result.compacted ? { ...own, ...COMPACTED } : own, observer);
        const encoder = dialect.createEncoder(operation, call);
        const options = { encoder, form: operation.form, format: incoming.format, scope };
        const open = { call: toReplyContext(call), dialect, observer };
        const frames = new ReplyStream(streamParts, open, result, options);
        if (principal && authenticator.schemes.length > 0) {
          const reader = principal;
          frames.endOnExpiry(expire => authenticator.onExpire(reader, expire));
        }
        return { kind: "stream", envelope, headers, frames };
      }
      const answering = replyDialect(dialect, call, originOf(result));
      const own = withResult(answering.replyHeaders(call, active), operation, result);
      const headers = withObserver(withCaching(own, operation, authenticator, principal), observer);
      if (unread.bytes > 0) unread.check(scope, result);
      const body = incoming.format.encode(answering.encode(operation, result));
      const isLarge = body.length > LIMITS.chunkBytes;
      const release = isLarge ? unread.hold(scope, Buffer.byteLength(body)) : undefined;
      observer?.onResult(result);
      reply = release
        ? { kind: "unary", envelope, headers, body, release }
        : { kind: "unary", envelope, headers, body };
    } catch (error) {
      reply = toFaultReply(context, error);
    }
    observer?.onEnd();
    return reply;
  }

  return {
    handle,
    authenticate,
    startCall,
    recordFault,
    async execute(decoded, { principal, observer, signal, bytes }) {
      const { operation, scope } = authorize(decoded, principal, observer, bytes);
      const result = await parts.execute(operation, scope, signal);
      if (!isStepStream(result)) observer?.onResult(result);
      return result;
    },
  };
}

const toReplyContext = ({ transport, endpoint, headers, query, method }: WireCall): ReplyContext => {
  return { transport, endpoint, headers, query, method };
};

/** The call may have waited so long that its credentials expired meanwhile. */
const waits = (operation: Operation): boolean =>
  operation.op === "send" || (operation.op === "get" && operation.newerThan !== undefined);

type ReplyHeaders = WireReply["headers"];

function withObserver(headers: ReplyHeaders, observer: CallObserver | undefined): ReplyHeaders {
  const added = observer?.headers();
  return added ? { ...headers, ...added } : headers;
}

/** v1 §3.1.11: the extended card requires authentication. */
function withPermissions(
  operation: Operation,
  authenticator: Authenticator,
  principal: Principal | undefined,
): Operation {
  if (operation.op !== "extended-card") return operation;
  return { ...operation, grants: authenticator.requirePrincipal(principal).grants };
}

/** A list of all tasks that was cut has no other place to say so: it is a bare array. */
function withResult(headers: ReplyHeaders, operation: Operation, result: OperationResult): ReplyHeaders {
  if (operation.op !== "list" || !operation.whole) return headers;
  const isCut = result.kind === "page" && result.page.nextPageToken !== "";
  return isCut ? { ...headers, "Dragoman-Truncated": "true" } : headers;
}

/** Cards that depend on the caller are not cached, or only by the caller. */
function withCaching(
  headers: ReplyHeaders,
  { op }: Operation,
  { schemes }: Authenticator,
  principal: Principal | undefined,
): ReplyHeaders {
  if (op === "extended-card") return { ...headers, ...NOT_STORED };
  if ((op !== "card" && op !== "agents") || schemes.length === 0) return headers;
  return { ...headers, ...(principal ? PRIVATE : PUBLIC) };
}
const PUBLIC = { Vary: "Authorization" };
const PRIVATE = { ...PUBLIC, "Cache-Control": "private, no-cache" };
const NOT_STORED = { ...PUBLIC, "Cache-Control": "private, no-store" };

/** The headers that every sending operation of every dialect reads: idempotency key (D10), trace, hops. */
function withHeaders(operation: Operation, call: WireCall): Operation {
  if (operation.op !== "send" && operation.op !== "stream") return operation;
  const { "idempotency-key": key, traceparent, "dragoman-hops": passed } = call.headers;
  const via = call.transport === "rest" || call.transport === "grpc" ? call.transport : undefined;
  const thread = readThread(call.metadata) ?? readThread(operation.send.metadata);
  if (key === undefined && traceparent === undefined && passed === undefined && !via && !thread)
    return operation;
  const trace = traceparent === undefined ? undefined : readTrace(traceparent, call.headers);
  const hops = passed !== undefined && /^\d{1,4}$/.test(passed) ? Number(passed) : undefined;
  const send = {
    ...operation.send,
    ...(key !== undefined && { key: checkKey(key) }),
    ...(thread !== undefined && { thread }),
    ...(trace && { trace }),
    ...(hops && { hops }),
    ...(via && { via }),
  };
  return { ...operation, send };
}

/** `metadata.thread_id` beside the parameters, or in them; an invalid value is ignored and does not fail the call (L19). */
function readThread(metadata: Json | undefined): string | undefined {
  if (metadata === undefined) return undefined;
  const thread = isObject(metadata) ? metadata.thread_id : undefined;
  if (typeof thread !== "string" || thread === "" || !thread.isWellFormed()) return undefined;
  return thread.length <= LIMITS.idCharsMax ? thread : undefined;
}

function checkKey(key: string): string {
  if (key.trim() !== "" && key.length <= LIMITS.idCharsMax) return key;
  throw new Fault("invalid-params", `Idempotency-Key must have 1 to ${LIMITS.idCharsMax} characters`, {
    field: "Idempotency-Key",
  });
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** W3C Trace Context §3.3.1.5, Baggage §3.3.2: longer values need not be propagated. */
const TRACESTATE_CHARS_MAX = 512;
const BAGGAGE_CHARS_MAX = 8_192;

/** undefined: an invalid traceparent is ignored, not an error. */
function readTrace(traceparent: string, headers: RequestHeaders): Trace | undefined {
  if (!TRACEPARENT.test(traceparent)) return undefined;
  const { tracestate, baggage } = headers;
  return {
    traceparent,
    ...(tracestate !== undefined && tracestate.length <= TRACESTATE_CHARS_MAX && { tracestate }),
    ...(baggage !== undefined && baggage.length <= BAGGAGE_CHARS_MAX && { baggage }),
  };
}

/** Also used by endpoints. RFC 9110 §10.2.3: whole seconds, rounded up. */
export function faultHeaders({ details }: Fault): Readonly<Record<string, string>> {
  const { retryAfterMs, challenge } = details;
  return {
    ...(retryAfterMs !== undefined && { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) }),
    ...(challenge !== undefined && { "WWW-Authenticate": challenge }),
  };
}

/** v1 §3.3.4: the extensions that the caller requested and the agent has. */
function activeExtensions(agents: VisibleAgents, operation: Operation): readonly string[] {
  if (operation.op !== "send" && operation.op !== "stream") return [];
  const requested = operation.send.extensions;
  if (requested.length === 0) return requested;
  const known = agents.find(operation.agent)?.card.extensions ?? [];
  return requested.filter(uri => known.some(extension => extension.uri === uri));
}

/** The events after the caller's Last-Event-ID are no longer stored: the stream begins with a snapshot of the task. */
const COMPACTED = { "Dragoman-Resumed": "snapshot" };

/** The dialect in which the task or push config of a result was created. */
function originOf(result: OperationResult): string | undefined {
  if (result.kind === "task") return result.task.origin;
  return result.kind === "push" ? result.config.origin : undefined;
}
