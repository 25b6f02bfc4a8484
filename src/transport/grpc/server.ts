import {
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Duplex } from "node:stream";
import { LIMITS } from "../../model/index.ts";
import type { Log } from "../../ports.ts";
import { createCodecs } from "../../protobuf/codec.ts";
import type { Schema } from "../../protobuf/schema.ts";
import { createReaders, HOLD_MS, type Readers } from "../readers.ts";
import { STALLED_MAX } from "../sse.ts";
import { GrpcCall } from "./call.ts";
import { type Answer, type CallParts, createCalls } from "./calls.ts";
import { createHealth, HEALTH } from "./health.ts";
import { CODES, GrpcRefusal, type Status } from "./status.ts";

export interface GrpcServerParts extends Omit<CallParts, "readers"> {
  readonly log: Log;
  readonly schemas: readonly Schema[];
  readonly streamsMax: number;
  readonly heartbeatMs: number;
}

/** Speaks gRPC on the connections that it is given. */
export interface GrpcServer {
  take(connection: Duplex): void;
  refuseNew(): void;
  close(): Promise<void>;
}

/** Calls at once on one connection, beside its streams: whoever has all streams may still cancel. */
const CALLS_MAX = 1_000;
/** MiB that the calls of one connection may hold in HTTP/2's own memory. */
const SESSION_MEMORY_MAX = 256;

/** Messages in protobuf; nothing else of gRPC is spoken here. */
const GRPC = /^application\/grpc(\+proto)?\s*(;|$)/i;
const UNSUPPORTED_MEDIA_TYPE = 415;

export function createGrpcServer(parts: GrpcServerParts): GrpcServer {
  const readers = createReaders();
  const health = createHealth(new Set(parts.schemas.map(nameOf)), parts.streams);
  const answers = createAnswers(parts, readers, health.answers);
  const sessions = createSessions(parts.heartbeatMs);
  const server = createServer({
    settings: { maxConcurrentStreams: parts.streamsMax + CALLS_MAX },
    maxHeaderListPairs: LIMITS.headersMax,
    maxSessionMemory: SESSION_MEMORY_MAX,
  });
  server.on("session", sessions.add);
  // Whoever does not speak HTTP/2 after all is cut off, and nobody else is concerned.
  server.on("sessionError", () => {});
  server.on("stream", hear);

  function hear(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const call = new GrpcCall(stream, headers);
    if (!GRPC.test(headers["content-type"] ?? "")) return call.refuse(UNSUPPORTED_MEDIA_TYPE);
    const path = headers[":path"] as string;
    const answer = answers.get(path);
    if (!answer) return call.end({ code: CODES.UNIMPLEMENTED, message: `There is no ${path} here` });
    answer(call).catch(error => call.end(toFailure(error, path)));
  }

  function toFailure(error: unknown, path: string): Status {
    if (error instanceof GrpcRefusal) return error.status;
    parts.log.error({ err: error, path }, "a call failed");
    return { code: CODES.INTERNAL, message: "The server failed while it handled this call" };
  }

  return {
    take: connection => void server.emit("connection", connection),
    refuseNew: health.refuseNew,
    async close() {
      readers.close();
      health.close();
      await sessions.close();
    },
  };
}

/** Who answers, by the path of the call. */
function createAnswers(
  parts: GrpcServerParts,
  readers: Readers,
  health: Readonly<Record<string, Answer>>,
): ReadonlyMap<string, Answer> {
  const calls = createCalls({ ...parts, readers });
  const answers = new Map<string, Answer>();
  for (const name in health) answers.set(`/${nameOf(HEALTH)}/${name}`, health[name] as Answer);
  for (const schema of parts.schemas) {
    const codecs = createCodecs(schema);
    const endpoint = `grpc:${schema.package}`;
    for (const { name, takes, gives, stream } of rpcsOf(schema)) {
      const method = { endpoint, name, takes: codecs(takes), gives: codecs(gives) };
      answers.set(`/${nameOf(schema)}/${name}`, stream ? calls.streaming(method) : calls.unary(method));
    }
  }
  return answers;
}

/** All connections. Proxies close silent ones, and a peer that is gone does not answer: each is asked at every heartbeat. */
function createSessions(heartbeatMs: number) {
  /** And how many heartbeats ago it gave its last sign of life. */
  const open = new Map<ServerHttp2Session, number>();
  let closed: (() => void) | undefined;
  const timer = setInterval(() => {
    for (const [session, silent] of open) ask(session, silent);
  }, heartbeatMs);
  timer.unref();

  function ask(session: ServerHttp2Session, silent: number): void {
    open.set(session, silent + 1);
    if (silent >= STALLED_MAX) session.destroy();
    else if (silent === 0) session.ping(() => open.has(session) && open.set(session, 0));
  }

  return {
    add(session: ServerHttp2Session): void {
      open.set(session, 0);
      session.once("close", () => {
        open.delete(session);
        if (open.size === 0) closed?.();
      });
      if (closed) session.close();
    },
    /** Calls that are under way may end. */
    async close(): Promise<void> {
      clearInterval(timer);
      const all = new Promise<void>(resolve => (closed = resolve));
      for (const session of open.keys()) session.close();
      if (open.size === 0) return;
      const cut = setTimeout(() => {
        for (const session of open.keys()) session.destroy();
      }, HOLD_MS);
      await all;
      clearTimeout(cut);
    },
  };
}

const nameOf = (schema: Schema): string => `${schema.package}.${schema.service}`;

const RPC = /^(\w+): (stream )?(\w+)$/;

function* rpcsOf(schema: Schema) {
  for (const [name, spec] of Object.entries(schema.rpcs)) {
    const [, takes, stream, gives] = RPC.exec(spec) ?? [];
    if (takes === undefined || gives === undefined)
      throw new Error(`${nameOf(schema)}.${name} cannot be read: ${spec}`);
    yield { name, takes, gives, stream: stream !== undefined };
  }
}
