import type { Readers } from "../../http/open-connections.ts";
import type { Streams } from "../../http/sse.ts";
import { toAsyncIterable } from "../../lib/batch-source.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { Fault, LIMITS } from "../../model/index.ts";
import type {
  Authenticated,
  Frame,
  Headers,
  PeerCertificate,
  Pipeline,
  Release,
  WireCall,
  WireReply,
} from "../../ports/index.ts";
import type { Codec } from "../../protocol/protobuf/codec.ts";
import type { GrpcCall, ReadLimits } from "./call.ts";
import { createPacer } from "./pacer.ts";
import { CODES, OK, type Status, toStatus } from "./status.ts";

export interface CallParts {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly readers: Readers;
  readonly isAgent: (name: string) => boolean;
  /** Where the rest of this server is: see `WireCall`. */
  readonly base: () => string;
  readonly limits: ReadLimits;
  /** After how long a reader that takes nothing is left alone. */
  readonly stallMs: number;
}

/** One method of one package. */
export interface Method {
  readonly endpoint: string;
  readonly name: string;
  readonly takes: Codec;
  readonly gives: Codec;
}

/** Answers a call, or throws: a `GrpcRefusal` is told to the caller, anything else is a failure of ours. */
export type Answer = (call: GrpcCall) => Promise<void>;

const NO_QUERY = new URLSearchParams();
const NO_VARS = {};

/** Calls of gRPC to calls of ours, and replies back. */
export function createCalls(parts: CallParts) {
  const { pipeline } = parts;
  /** All readers of a step share its frame, and so its bytes. */
  const known = new WeakMap<Frame, Buffer>();

  /** Whoever may not call is refused before anything is read of what he says. */
  async function ask(method: Method, call: GrpcCall): Promise<WireReply> {
    const { headers } = call;
    const certificate = (): PeerCertificate | undefined => call.certificate();
    let met: Authenticated;
    try {
      met = await pipeline.authenticate({ headers, certificate }, headers["a2a-agent"]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return pipeline.refuse(toCall(method, call, {}), error);
    }
    const message = await call.read(parts.limits);
    let params: Json;
    try {
      params = method.takes.decode(message);
    } catch {
      const fault = new Fault("parse", "The message cannot be read; is it of another version?");
      return pipeline.refuse(toCall(method, call, {}), fault);
    }
    return pipeline.handle(toCall(method, call, params as JsonObject), met);
  }

  function toCall(method: Method, call: GrpcCall, said: JsonObject): WireCall {
    const { headers } = call;
    const { agent, params } = chooseAgent(headers, said, parts.isAgent);
    return {
      transport: "grpc",
      endpoint: method.endpoint,
      vars: agent === undefined ? NO_VARS : { agent },
      headers,
      certificate: () => call.certificate(),
      query: NO_QUERY,
      base: parts.base,
      method: method.name,
      params,
      metadata: undefined,
      bytes: call.bytes,
      signal: parts.readers.signalOf(call),
    };
  }

  function unary(method: Method): Answer {
    return async call => {
      const reply = await ask(method, call);
      if (reply.kind === "fault") return call.end(toStatus(reply.fault, reply.headers));
      if (reply.kind === "many") throw new Error("a stream, where one message was asked for");
      call.begin(reply.headers);
      const bytes = method.gives.encode(reply.json);
      if (bytes.length > LIMITS.pieceBytes) return endLarge(call, bytes, reply.release);
      reply.release?.();
      call.end(OK, bytes);
    };
  }

  async function endLarge(call: GrpcCall, bytes: Buffer, release: Release | undefined): Promise<void> {
    try {
      if (await call.writeLarge(bytes, parts.stallMs, STALLED)) call.end(OK);
    } finally {
      release?.();
    }
  }

  function streaming(method: Method): Answer {
    const toBytes = (frame: Frame): Buffer => {
      const bytes = known.get(frame) ?? method.gives.encode(frame.json);
      known.set(frame, bytes);
      return bytes;
    };
    return async call => {
      const reply = await ask(method, call);
      if (reply.kind === "fault") return call.end(toStatus(reply.fault, reply.headers));
      if (reply.kind === "one") throw new Error("one message, where a stream was asked for");
      await parts.streams.count(write(call, reply, toBytes));
    };
  }

  /** Frame by frame; what a slow reader does not take waits in the log. */
  async function write(
    call: GrpcCall,
    reply: WireReply & { kind: "many" },
    toBytes: (frame: Frame) => Buffer,
  ): Promise<void> {
    call.begin(reply.headers);
    const pacer = createPacer(call, parts.stallMs);
    let trailers = {};
    const signal = parts.readers.signalOf(call);
    for await (const bunch of toAsyncIterable(reply.frames, signal()))
      for (const frame of bunch) {
        if (call.destroyed) return;
        if (frame.fault) return call.end(toStatus(frame.fault, reply.headers));
        const bytes = toBytes(frame);
        const turn = parts.streams.turnFor(bytes.length);
        if (turn) await turn;
        const written =
          bytes.length > LIMITS.pieceBytes
            ? call.writeLarge(bytes, parts.stallMs, left(STOPPED, trailers))
            : pacer.write(bytes);
        if (written !== true && !(await written)) return call.abandon(left(STOPPED, trailers));
        if (frame.id !== undefined) trailers = { "last-event-id": String(frame.id) };
      }
    call.end(parts.readers.closed ? left("The server stops", trailers) : { ...OK, trailers });
  }

  return { unary, streaming };
}

const STOPPED = "The reader stopped reading";
const STALLED: Status = { code: CODES.UNAVAILABLE, message: STOPPED };

/** The stream ends before the task does; whoever reads on later gets the rest. */
const left = (why: string, trailers: Status["trailers"] = {}): Status => ({
  code: CODES.UNAVAILABLE,
  message: `${why}; subscribe to the task to read on`,
  trailers,
});

/**
 * One port has all agents, and no path tells them apart: the metadata `a2a-agent` names one, or a tenant that is called
 * like one, as the cards have it. Any other tenant stays what it is.
 */
function chooseAgent(
  headers: Headers,
  params: JsonObject,
  isAgent: (name: string) => boolean,
): { agent: string | undefined; params: JsonObject } {
  const named = headers["a2a-agent"];
  if (typeof params.tenant !== "string" || !isAgent(params.tenant)) return { agent: named, params };
  const { tenant, ...rest } = params;
  return { agent: named ?? (tenant as string), params: rest };
}
