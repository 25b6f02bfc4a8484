import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { type AbortSignals, createAbortSignals } from "../../http/abort.ts";
import {
  type GrpcListener,
  HEAD_TOO_LARGE,
  http2Options,
  isGrpc,
  isHeadTooLarge,
  TOO_MUCH_UNSENT,
} from "../../http/http2.ts";
import { createHttp2Sessions } from "../../http/http2-sessions.ts";
import { CLOSE_GRACE_MS, trackSockets } from "../../http/sockets.ts";
import { createUnsentBytes, type UnsentBytesParts } from "../../http/unsent-bytes.ts";
import type { BodyFormat, Log } from "../../ports/index.ts";
import { createCodecs } from "../../protocol/protobuf/codec.ts";
import { type ProtobufSchema, rpcsOf } from "../../protocol/protobuf/schema.ts";
import { GrpcCall } from "./call.ts";
import { createGrpcHealth, HEALTH } from "./health.ts";
import { createMethods, type GrpcMethodParts, type ServeGrpcCall } from "./methods.ts";
import { createReflection } from "./reflection.ts";
import { CODES, GrpcError, type GrpcStatus } from "./status.ts";

export interface GrpcServerParts extends Omit<GrpcMethodParts, "signals">, UnsentBytesParts {
  readonly log: Log;
  readonly schemas: readonly ProtobufSchema[];
  readonly streamsMax: number;
  /** Whether clients may ask for the definitions of the services. */
  readonly reflection: boolean;
}

export interface GrpcServer extends GrpcListener {
  refuseNew(): void;
  close(): Promise<void>;
}

const UNSUPPORTED_MEDIA_TYPE = 415;
const HEADERS_TOO_LARGE = 431;

/** Serves gRPC on the connections that it is given. */
export function createGrpcServer(parts: GrpcServerParts): GrpcServer {
  const signals = createAbortSignals();
  const health = createGrpcHealth(new Set(parts.schemas.map(toQualifiedName)), parts);
  const handlers = new Map([
    ...toHandlers(parts, signals, health.handlers),
    ...(parts.reflection ? createReflection(parts.schemas, parts) : []),
  ]);
  const sessions = createHttp2Sessions(parts.heartbeatMs);
  const unsent = createUnsentBytes(parts);
  const server = createServer(http2Options(parts.streamsMax));
  const sockets = trackSockets(server);
  server.on("session", sessions.add);
  // A client that does not speak HTTP/2 after all is disconnected; that concerns no other connection.
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers, _flags, raw: string[]) =>
    takeStream(stream as ServerHttp2Stream, headers, raw),
  );

  /** Without the name of the method: a long one would not fit into the trailers, and the caller would get no status. */
  const unknownMethod = `Unknown method; the services of this server are ${[...parts.schemas, HEALTH].map(toQualifiedName).join(", ")}`;

  function takeStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    const call = new GrpcCall(stream, headers, unsent);
    const isTooLarge = isHeadTooLarge(raw);
    if (!isGrpc(headers)) return call.refuse(isTooLarge ? HEADERS_TOO_LARGE : UNSUPPORTED_MEDIA_TYPE);
    if (isTooLarge) return call.end({ code: CODES.RESOURCE_EXHAUSTED, message: HEAD_TOO_LARGE });
    if (!unsent.hasRoom(stream)) return call.end({ code: CODES.UNAVAILABLE, message: TOO_MUCH_UNSENT });
    const path = headers[":path"] as string;
    const handler = handlers.get(path);
    if (!handler) return call.end({ code: CODES.UNIMPLEMENTED, message: unknownMethod });
    handler(call).catch(error => call.end(toErrorStatus(error, path)));
  }

  function toErrorStatus(error: unknown, path: string): GrpcStatus {
    if (error instanceof GrpcError) return error.status;
    parts.log.error({ err: error, path }, "a call failed");
    return { code: CODES.INTERNAL, message: "Internal server error" };
  }

  return {
    takeConnection: connection => void server.emit("connection", connection),
    takeStream,
    refuseNew: health.refuseNew,
    async close() {
      signals.close();
      health.close();
      sessions.close();
      unsent.close();
      // A session that is closed gracefully waits for its peer, which may never answer.
      const cut = setTimeout(sockets.close, CLOSE_GRACE_MS);
      await sockets.allClosed();
      clearTimeout(cut);
    },
  };
}

/** The handlers by the path of their method. */
function toHandlers(
  parts: GrpcServerParts,
  signals: AbortSignals,
  health: Readonly<Record<string, ServeGrpcCall>>,
): ReadonlyMap<string, ServeGrpcCall> {
  const { unary, streaming } = createMethods({ ...parts, signals });
  const handlers = new Map<string, ServeGrpcCall>();
  for (const name in health)
    handlers.set(`/${toQualifiedName(HEALTH)}/${name}`, health[name] as ServeGrpcCall);
  for (const schema of parts.schemas) {
    const codecs = createCodecs(schema);
    const endpoint = `grpc:${schema.package}`;
    /** By message: methods with the same response share their encoded frames. */
    const formats = new Map<string, BodyFormat<Uint8Array>>();
    for (const { name, request, response, streams } of rpcsOf(schema)) {
      const { encode } = codecs(response);
      const format = formats.get(response) ?? { encode, encodeFrame: encode };
      formats.set(response, format);
      const method = { endpoint, name, decode: codecs(request).decode, format };
      handlers.set(`/${toQualifiedName(schema)}/${name}`, streams ? streaming(method) : unary(method));
    }
  }
  return handlers;
}

const toQualifiedName = (schema: ProtobufSchema): string => `${schema.package}.${schema.service}`;
