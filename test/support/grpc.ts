/** A gRPC client that hides nothing; messages are the official SDK's, in ProtoJSON. */
import * as types from "@a2a-js/sdk";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import type { Loose } from "./official-dialects.ts";

export interface GrpcReply {
  readonly json: Loose;
  readonly headers: Metadata;
  readonly trailers: Metadata;
}

export interface GrpcStream extends AsyncIterable<Loose> {
  readonly call: ClientReadableStream<Loose>;
  /** The first message; the rest can still be read. */
  first(): Promise<Loose>;
  all(): Promise<Loose[]>;
  /** The error of the whole stream; undefined: it succeeded. */
  ended(): Promise<{ readonly error: ServiceError | undefined; readonly trailers: Metadata }>;
}

interface Json {
  fromJSON(json: unknown): unknown;
  toJSON(message: unknown): unknown;
}
/** The request and response codecs of a method, by the SDK's names. */
const MESSAGES: Readonly<Record<string, readonly [takes: Json, gives: Json]>> = {
  SendMessage: [types.SendMessageRequest, types.SendMessageResponse],
  SendStreamingMessage: [types.SendMessageRequest, types.StreamResponse],
  GetTask: [types.GetTaskRequest, types.Task as unknown as Json],
  SubscribeToTask: [types.SubscribeToTaskRequest, types.StreamResponse],
};

export function createGrpcClient(host: string, creds: ChannelCredentials = credentials.createInsecure()) {
  const client = new Client(host, creds, { "grpc.enable_retries": 0 });
  const toMetadata = (metadata: Record<string, string>): Metadata => {
    const made = new Metadata();
    for (const [name, value] of Object.entries(metadata)) made.set(name, value);
    return made;
  };

  function codecOf(method: string) {
    const [takes, gives] = MESSAGES[method] as [Json, Json];
    const name = method.charAt(0).toLowerCase() + method.slice(1);
    const definition = A2AService[name as keyof typeof A2AService];
    return {
      path: definition.path,
      serialize: (json: Loose): Buffer => definition.requestSerialize(takes.fromJSON(json) as never),
      deserialize: (bytes: Buffer): Loose => gives.toJSON(definition.responseDeserialize(bytes)),
    };
  }

  function unary(
    path: string,
    request: Buffer,
    metadata: Record<string, string> = {},
    options: CallOptions = {},
  ): Promise<{ bytes: Buffer; headers: Metadata; trailers: Metadata }> {
    return new Promise((resolve, reject) => {
      let headers = new Metadata();
      let bytes: Buffer | undefined;
      const asIs = (value: Buffer): Buffer => value;
      const call = client.makeUnaryRequest(
        path,
        asIs,
        asIs,
        request,
        toMetadata(metadata),
        options,
        (error, value) => (error ? reject(error) : (bytes = value)),
      );
      call.on("metadata", got => (headers = got));
      call.on("status", ({ metadata: trailers }) => bytes && resolve({ bytes, headers, trailers }));
    });
  }

  return {
    client,
    unary,
    async ask(
      method: string,
      json: Loose,
      metadata: Record<string, string> = {},
      options: CallOptions = {},
    ): Promise<GrpcReply> {
      const { path, serialize, deserialize } = codecOf(method);
      const { bytes, ...rest } = await unary(path, serialize(json), metadata, options);
      return { json: deserialize(bytes), ...rest };
    },
    open(
      method: string,
      json: Loose,
      metadata: Record<string, string> = {},
      options: CallOptions = {},
    ): GrpcStream {
      const { path, serialize, deserialize } = codecOf(method);
      return toStream(
        client.makeServerStreamRequest(path, serialize, deserialize, json, toMetadata(metadata), options),
      );
    },
    close: () => client.close(),
  };
}
export type GrpcClient = ReturnType<typeof createGrpcClient>;

export function toStream<T>(call: ClientReadableStream<T>): GrpcStream {
  let error: ServiceError | undefined;
  const status = Promise.withResolvers<Metadata>();
  call.on("error", found => (error = found as ServiceError));
  call.on("status", ({ metadata }) => status.resolve(metadata));
  return {
    call: call as ClientReadableStream<Loose>,
    [Symbol.asyncIterator]: () => call[Symbol.asyncIterator](),
    async first() {
      for (;;) {
        const message = call.read() as T | null;
        if (message !== null) return message;
        await new Promise(resolve => call.once("readable", resolve));
      }
    },
    all: () => Array.fromAsync(call),
    async ended() {
      call.resume();
      const trailers = await status.promise;
      return { error, trailers };
    },
  };
}

/** The error of a call that must be refused. */
export async function refusedBy(reply: Promise<unknown>): Promise<ServiceError> {
  try {
    await reply;
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error("it was not refused");
}
