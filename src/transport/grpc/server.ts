import type { Duplex } from "node:stream";
import { Server, ServerCredentials, type UntypedHandleCall } from "@grpc/grpc-js";
import { createCodecs } from "../../protobuf/codec.ts";
import type { Schema } from "../../protobuf/schema.ts";
import { createReaders, HOLD_MS } from "../readers.ts";
import { type CallParts, createCalls, type Method } from "./calls.ts";
import { createHealth, HEALTH } from "./health.ts";

export interface GrpcServerParts extends Omit<CallParts, "readers"> {
  readonly schemas: readonly Schema[];
  readonly bodyBytesMax: number;
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

export function createGrpcServer(parts: GrpcServerParts): GrpcServer {
  const readers = createReaders();
  const calls = createCalls({ ...parts, readers });
  const server = new Server({
    "grpc.max_receive_message_length": parts.bodyBytesMax,
    "grpc.max_concurrent_streams": parts.streamsMax + CALLS_MAX,
    // Proxies close silent connections, and a peer that is gone does not answer.
    "grpc.keepalive_time_ms": parts.heartbeatMs,
    "grpc.enable_channelz": 0,
  });
  const health = createHealth(new Set(parts.schemas.map(nameOf)), parts.streams);
  server.addService(definitionOf(HEALTH), health.handlers);
  for (const schema of parts.schemas) server.addService(definitionOf(schema), handlersOf(schema));

  function handlersOf(schema: Schema): Readonly<Record<string, UntypedHandleCall>> {
    const codecs = createCodecs(schema);
    const handlers: Record<string, UntypedHandleCall> = {};
    for (const { name, takes, gives, stream } of rpcsOf(schema)) {
      const endpoint = `grpc:${schema.package}`;
      const method: Method = { endpoint, name, takes: codecs(takes), gives: codecs(gives) };
      handlers[name] = stream ? calls.streaming(method) : calls.unary(method);
    }
    return handlers;
  }

  // Whether there is TLS around it or not, what comes here is in clear text.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    take: connection => injector.injectConnection(connection),
    refuseNew: health.refuseNew,
    async close() {
      readers.close();
      health.close();
      const cut = setTimeout(() => server.forceShutdown(), HOLD_MS);
      await new Promise<void>(resolve => server.tryShutdown(() => resolve()));
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

/** Messages pass as bytes: what is in them is read where it can be refused in the words of a dialect. */
const asIs = (bytes: Buffer): Buffer => bytes;

function definitionOf(schema: Schema): Parameters<Server["addService"]>[0] {
  const rows = [...rpcsOf(schema)].map(({ name, stream }) => [
    name,
    {
      path: `/${nameOf(schema)}/${name}`,
      requestStream: false,
      responseStream: stream,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  ]);
  return Object.fromEntries(rows);
}
