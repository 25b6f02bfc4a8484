import type { AbortSignals } from "../../http/abort.ts";
import type { Streams } from "../../http/sse.ts";
import { toAsyncIterable } from "../../lib/batch-source.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { Fault, LIMITS } from "../../model/index.ts";
import type {
  BodyFormat,
  Caller,
  IncomingCall,
  Pipeline,
  RequestHeaders,
  WireCall,
  WireReply,
} from "../../ports/index.ts";
import type { GrpcCall, ReadLimits } from "./call.ts";
import { CODES, type GrpcStatus, OK, toGrpcStatus } from "./status.ts";

export interface GrpcMethodParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly signals: AbortSignals;
  readonly isAgent: (name: string) => boolean;
  /** The URL of this server: see `WireCall`. */
  readonly base: () => string;
  readonly limits: ReadLimits;
  /** After how long a caller that reads nothing is disconnected. */
  readonly stallMs: number;
}

/** One method of one package. */
export interface GrpcMethod {
  readonly endpoint: string;
  readonly name: string;
  readonly decode: (message: Uint8Array) => Json;
  readonly format: BodyFormat<Uint8Array>;
}

/** Answers a call, or throws: the status of a `GrpcError` is sent to the caller, any other error is a failure of the server. */
export type ServeGrpcCall = (call: GrpcCall) => Promise<void>;

const NO_QUERY = new URLSearchParams();
const NO_VARS = {};
const NO_PARAMS: JsonObject = {};

class IncomingGrpcCall implements IncomingCall<Uint8Array> {
  readonly isPublic = false;
  readonly caller: Caller;
  readonly #parts: GrpcMethodParts;
  readonly #method: GrpcMethod;
  readonly #call: GrpcCall;

  constructor(parts: GrpcMethodParts, method: GrpcMethod, call: GrpcCall) {
    this.#parts = parts;
    this.#method = method;
    this.#call = call;
    this.caller = { headers: call.headers, certificate: () => call.certificate() };
  }

  get agent(): string | undefined {
    return this.#call.headers["a2a-agent"];
  }
  get format(): BodyFormat<Uint8Array> {
    return this.#method.format;
  }

  async read(): Promise<WireCall> {
    const message = await this.#call.read(this.#parts.limits);
    let params: Json;
    try {
      params = this.#method.decode(message);
    } catch {
      throw new Fault("parse", "The message cannot be decoded; is it of another version?");
    }
    return this.#toCall(isObject(params) ? params : NO_PARAMS);
  }

  withoutBody(): WireCall {
    return this.#toCall(NO_PARAMS);
  }

  #toCall(message: JsonObject): WireCall {
    const { base, signals, isAgent } = this.#parts;
    const { endpoint, name: method } = this.#method;
    const { headers, certificate } = this.caller;
    const { agent, params } = chooseAgent(headers, message, isAgent);
    return {
      transport: "grpc",
      endpoint,
      vars: agent === undefined ? NO_VARS : { agent },
      headers,
      certificate,
      query: NO_QUERY,
      base,
      method,
      params,
      metadata: undefined,
      bytes: this.#call.bytes,
      signal: signals.signalOf(this.#call),
    };
  }
}

/**
 * All agents are at one port, and no path names the agent: the metadata `a2a-agent` does, or a tenant with the name of an
 * agent, as the cards tell callers. Any other tenant stays a parameter.
 */
function chooseAgent(
  headers: RequestHeaders,
  params: JsonObject,
  isAgent: (name: string) => boolean,
): { agent: string | undefined; params: JsonObject } {
  const named = headers["a2a-agent"];
  if (typeof params.tenant !== "string" || !isAgent(params.tenant)) return { agent: named, params };
  const { tenant, ...rest } = params;
  return { agent: named ?? (tenant as string), params: rest };
}

/** Handlers for unary and streaming methods. */
export function createMethods(parts: GrpcMethodParts) {
  const { pipeline, streams, signals, stallMs } = parts;

  const unary =
    (method: GrpcMethod): ServeGrpcCall =>
    async call => {
      const reply = await pipeline.handle(new IncomingGrpcCall(parts, method, call));
      if (reply.kind === "fault") return call.end(toGrpcStatus(reply.fault, reply.headers));
      if (reply.kind === "stream") throw new Error(`${method.name} is unary, but its reply is a stream`);
      call.begin(reply.headers);
      if (reply.body.length <= LIMITS.chunkBytes) {
        reply.release?.();
        return call.end(OK, reply.body);
      }
      try {
        const stalled = { code: CODES.UNAVAILABLE, message: STALLED };
        if (await call.writeLarge(reply.body, stallMs, stalled)) call.end(OK);
      } finally {
        reply.release?.();
      }
    };

  const streaming =
    (method: GrpcMethod): ServeGrpcCall =>
    async call => {
      const reply = await pipeline.handle(new IncomingGrpcCall(parts, method, call));
      if (reply.kind === "fault") return call.end(toGrpcStatus(reply.fault, reply.headers));
      if (reply.kind === "unary") throw new Error(`${method.name} is streaming, but its reply is unary`);
      await streams.count(writeStream(call, reply));
    };

  /** Frames that a slow caller does not read wait in the log. */
  async function writeStream(
    call: GrpcCall,
    { headers, frames }: WireReply<Uint8Array> & { kind: "stream" },
  ): Promise<void> {
    call.begin(headers);
    let trailers = {};
    const signal = signals.signalOf(call);
    for await (const batch of toAsyncIterable(frames, signal()))
      for (const frame of batch) {
        if (call.destroyed) return;
        if (frame.fault) return call.end(toGrpcStatus(frame.fault, headers));
        const { data } = frame;
        const turn = streams.turnFor(data.length);
        if (turn) await turn;
        const written =
          data.length > LIMITS.chunkBytes
            ? call.writeLarge(data, stallMs, toResumable(STALLED, trailers))
            : call.writePaced(data, stallMs);
        if (written !== true && !(await written)) return call.abandon(toResumable(STALLED, trailers));
        if (frame.id !== undefined) trailers = { "last-event-id": String(frame.id) };
      }
    call.end(signals.isClosed ? toResumable("The server stops", trailers) : { ...OK, trailers });
  }

  return { unary, streaming };
}

const STALLED = "The caller stopped reading";

/** The stream ends before the task does; a later subscription gets the rest. */
const toResumable = (reason: string, trailers: GrpcStatus["trailers"] = {}): GrpcStatus => ({
  code: CODES.UNAVAILABLE,
  message: `${reason}; subscribe to the task to continue`,
  trailers,
});
