import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import { Fault, type Json, type JsonObject } from "../../model/index.ts";
import { each } from "../../ports/source.ts";
import type {
  Frame,
  Headers,
  Log,
  Met,
  PeerCertificate,
  Pipeline,
  WireCall,
  WireReply,
} from "../../ports.ts";
import type { Codec } from "../../protobuf/codec.ts";
import { toPeer } from "../peer.ts";
import type { Readers } from "../readers.ts";
import type { Streams } from "../sse.ts";
import { createPacer } from "./pacer.ts";
import { toMetadata, toStatus } from "./status.ts";

export interface CallParts {
  readonly pipeline: Pipeline;
  readonly log: Log;
  readonly streams: Streams;
  readonly readers: Readers;
  readonly isAgent: (name: string) => boolean;
  /** Where the rest of this server is: see `WireCall`. */
  readonly base: () => string;
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

type Asking = ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;

const NO_QUERY = new URLSearchParams();
const NO_VARS = {};

/** Calls of gRPC to calls of ours, and replies back. */
export function createCalls(parts: CallParts) {
  const { pipeline, log } = parts;
  /** All readers of a step share its frame, and so its bytes. */
  const known = new WeakMap<Frame, Buffer>();

  async function ask(method: Method, call: Asking): Promise<WireReply> {
    const headers = toHeaders(call.metadata);
    const certificate = certificateOf(call);
    let met: Met;
    try {
      met = await pipeline.meet({ headers, certificate }, headers["a2a-agent"]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return pipeline.refuse(toCall(method, call, headers, {}), error);
    }
    let params: Json;
    try {
      params = method.takes.decode(call.request);
    } catch {
      const fault = new Fault("parse", "The message cannot be read; is it of another version?");
      return pipeline.refuse(toCall(method, call, headers, {}), fault);
    }
    return pipeline.handle(toCall(method, call, headers, params as JsonObject), met);
  }

  function toCall(method: Method, call: Asking, headers: Headers, said: JsonObject): WireCall {
    const { agent, params } = chooseAgent(headers, said, parts.isAgent);
    return {
      transport: "grpc",
      endpoint: method.endpoint,
      vars: agent === undefined ? NO_VARS : { agent },
      headers,
      certificate: certificateOf(call),
      query: NO_QUERY,
      base: parts.base,
      method: method.name,
      params,
      metadata: undefined,
      bytes: call.request.length,
      signal: parts.readers.signalOf(call, "cancelled"),
    };
  }

  function failed(error: unknown, method: Method): Partial<StatusObject> {
    log.error({ err: error, method: method.name }, "a call failed");
    return { code: status.INTERNAL, details: "The server failed while it handled this call" };
  }

  function unary(method: Method): handleUnaryCall<Buffer, Buffer> {
    return async (call, done) => {
      try {
        const reply = await ask(method, call);
        if (reply.kind === "fault") return done(toStatus(reply.fault, reply.headers));
        if (reply.kind === "many") throw new Error("a stream, where one message was asked for");
        call.sendMetadata(toMetadata(reply.headers));
        done(null, method.gives.encode(reply.json));
      } catch (error) {
        done(failed(error, method));
      }
    };
  }

  function streaming(method: Method): handleServerStreamingCall<Buffer, Buffer> {
    const toBytes = (frame: Frame): Buffer => {
      const bytes = known.get(frame) ?? method.gives.encode(frame.json);
      known.set(frame, bytes);
      return bytes;
    };
    return async call => {
      try {
        const reply = await ask(method, call);
        if (reply.kind === "fault") return void call.emit("error", toStatus(reply.fault, reply.headers));
        if (reply.kind === "one") throw new Error("one message, where a stream was asked for");
        await parts.streams.count(write(call, reply, toBytes));
      } catch (error) {
        call.emit("error", failed(error, method));
      }
    };
  }

  /** Frame by frame; what a slow reader does not take waits in the log. */
  async function write(
    call: ServerWritableStream<Buffer, Buffer>,
    reply: WireReply & { kind: "many" },
    toBytes: (frame: Frame) => Buffer,
  ): Promise<void> {
    call.sendMetadata(toMetadata(reply.headers));
    const pacer = createPacer(call, parts.stallMs);
    const trailers = toMetadata({});
    const signal = parts.readers.signalOf(call, "cancelled");
    for await (const bunch of each(reply.frames, signal()))
      for (const frame of bunch) {
        if (call.cancelled) return;
        if (frame.fault) return void call.emit("error", toStatus(frame.fault, reply.headers));
        const written = pacer.write(toBytes(frame));
        if (written !== true && !(await written)) return leave(call, "The reader stopped reading", trailers);
        if (frame.id !== undefined) trailers.set("last-event-id", String(frame.id));
      }
    if (parts.readers.closed) leave(call, "The server stops", trailers);
    else call.end(trailers);
  }

  return { unary, streaming };
}

/** grpc-js tells only of certificates that are trusted. */
const certificateOf = (call: Asking) => (): PeerCertificate | undefined =>
  toPeer(call.getAuthContext().sslPeerCertificate ?? {});

/** The stream ends before the task does; whoever reads on later gets the rest. */
function leave(call: ServerWritableStream<Buffer, Buffer>, why: string, metadata: Metadata): void {
  const details = `${why}; subscribe to the task to read on`;
  call.emit("error", { code: status.UNAVAILABLE, details, metadata });
}

/** Names in lower case, as metadata has them; what is binary is nothing that we know. */
function toHeaders(metadata: Metadata): Headers {
  const headers: Record<string, string> = {};
  for (const name in metadata.getMap())
    if (!name.endsWith("-bin")) headers[name] = metadata.get(name).join(", ");
  return headers;
}

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
  const { tenant, ...rest } = params;
  if (typeof tenant !== "string" || !isAgent(tenant)) return { agent: named, params };
  return { agent: named ?? tenant, params: rest };
}
