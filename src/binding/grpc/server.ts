import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { trackSockets } from "../../http/fast-path/sniff.ts";
import { HEAD_TOO_LARGE, http2Options, isGrpc, isHeadTooLarge, TOO_MUCH_UNSENT } from "../../http/http2.ts";
import { createSessions } from "../../http/http2-sessions.ts";
import { createReaders, HOLD_MS, type Readers } from "../../http/open-connections.ts";
import { createUnsent, type UnsentParts } from "../../http/unsent-bytes.ts";
import type { Log } from "../../ports/index.ts";
import { createCodecs } from "../../protocol/protobuf/codec.ts";
import type { Schema } from "../../protocol/protobuf/schema.ts";
import { GrpcCall } from "./call.ts";
import { type Answer, type CallParts, createCalls } from "./calls.ts";
import { createHealth, HEALTH } from "./health.ts";
import { CODES, GrpcRefusal, type Status } from "./status.ts";

export interface GrpcServerParts extends Omit<CallParts, "readers">, UnsentParts {
  readonly log: Log;
  readonly schemas: readonly Schema[];
  readonly streamsMax: number;
}

/** Speaks gRPC on the connections that it is given. */
export interface GrpcServer {
  take(connection: Duplex): void;
  /** Takes a call on a connection that is somebody else's. */
  hear(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void;
  refuseNew(): void;
  close(): Promise<void>;
}

const UNSUPPORTED_MEDIA_TYPE = 415;
const HEADERS_TOO_LARGE = 431;

export function createGrpcServer(parts: GrpcServerParts): GrpcServer {
  const readers = createReaders();
  const health = createHealth(new Set(parts.schemas.map(nameOf)), parts);
  const answers = createAnswers(parts, readers, health.answers);
  const sessions = createSessions(parts.heartbeatMs);
  const unsent = createUnsent(parts);
  const server = createServer(http2Options(parts.streamsMax));
  const sockets = trackSockets(server);
  server.on("session", sessions.add);
  // Whoever does not speak HTTP/2 after all is cut off, and nobody else is concerned.
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers, _flags, raw: string[]) =>
    hear(stream as ServerHttp2Stream, headers, raw),
  );

  /** Without what was asked for: a long name would not fit into the trailers, and nothing at all would be said. */
  const unknown = `There is no such method; the services here are ${[...parts.schemas, HEALTH].map(nameOf).join(", ")}`;

  function hear(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    const call = new GrpcCall(stream, headers, unsent);
    const isTooLarge = isHeadTooLarge(raw);
    if (!isGrpc(headers)) return call.refuse(isTooLarge ? HEADERS_TOO_LARGE : UNSUPPORTED_MEDIA_TYPE);
    if (isTooLarge) return call.end({ code: CODES.RESOURCE_EXHAUSTED, message: HEAD_TOO_LARGE });
    if (!unsent.hasRoom(stream)) return call.end({ code: CODES.UNAVAILABLE, message: TOO_MUCH_UNSENT });
    const path = headers[":path"] as string;
    const answer = answers.get(path);
    if (!answer) return call.end({ code: CODES.UNIMPLEMENTED, message: unknown });
    answer(call).catch(error => call.end(toFailure(error, path)));
  }

  function toFailure(error: unknown, path: string): Status {
    if (error instanceof GrpcRefusal) return error.status;
    parts.log.error({ err: error, path }, "a call failed");
    return { code: CODES.INTERNAL, message: "The server failed while it handled this call" };
  }

  return {
    take: connection => void server.emit("connection", connection),
    hear,
    refuseNew: health.refuseNew,
    async close() {
      readers.close();
      health.close();
      sessions.close();
      unsent.close();
      // A session that ends in good order waits for its peer, who may never answer.
      const cut = setTimeout(sockets.close, HOLD_MS);
      await sockets.gone();
      clearTimeout(cut);
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
