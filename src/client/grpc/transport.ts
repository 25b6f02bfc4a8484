import {
  type CallOptions,
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  status,
} from "@grpc/grpc-js";
import type { Json } from "../../lib/json.ts";
import type { FaultCode } from "../../model/index.ts";
import { V1_SCHEMA } from "../../protocol/a2a-v1/schema.ts";
import { V03_SCHEMA } from "../../protocol/a2a-v03/schema.ts";
import { type Codec, createCodecs } from "../../protocol/protobuf/codec.ts";
import { type ProtobufSchema, rpcsOf } from "../../protocol/protobuf/schema.ts";
import { STATUS_CODEC } from "../../protocol/protobuf/status.ts";
import { parseAddress } from "../address.ts";
import { ClientError, UnavailableError } from "../errors.ts";
import { toRefusal } from "../faults.ts";
import type { HttpTarget } from "../http.ts";
import { CLIENT_LIMITS, SERVER_CALL_LIMITS } from "../limits.ts";
import { asList } from "../read.ts";
import type { Transport, TransportEvent, TransportRequest } from "../transport.ts";
import { toV03Request } from "./v03-request.ts";

const V1_VERSION = "1.0";

export function createGrpcTransport(target: HttpTarget): Transport & { close(): void } {
  const isV1 = target.headers["a2a-version"] === V1_VERSION;
  const findMethod = createMethods(isV1 ? V1_SCHEMA : V03_SCHEMA);
  const toCall = (request: TransportRequest): EncodedCall => {
    const { method, params } = isV1 ? request : toV03Request(request);
    const { path, requestCodec, responseCodec } = findMethod(method);
    return { path, bytes: requestCodec.encode(params), responseCodec };
  };
  const client = connect(target.url);
  const toError = (request: TransportRequest, error: unknown) =>
    toClientError(target.url, request.method, error);

  /** `isRetry`: the server rejected the last credentials. */
  async function toMetadata({ headers }: TransportRequest, isRetry: boolean): Promise<Metadata> {
    const metadata = new Metadata();
    const all = { ...target.headers, ...headers, ...(await target.credentials(isRetry)) };
    for (const [name, value] of Object.entries(all)) metadata.set(name, value);
    return metadata;
  }

  async function callOnce(request: TransportRequest, signal: AbortSignal, isRetry: boolean): Promise<Json> {
    const metadata = await toMetadata(request, isRetry);
    const { path, bytes, responseCodec } = toCall(request);
    return new Promise((resolve, reject) => {
      const onResponse = (error: StatusError | null, response?: Buffer): void => {
        signal.removeEventListener("abort", abort);
        if (error) reject(signal.aborted ? signal.reason : error);
        else resolve(responseCodec.decode(response as Buffer));
      };
      const call = client.makeUnaryRequest(path, asIs, asIs, bytes, metadata, NO_OPTIONS, onResponse);
      const abort = (): void => call.cancel();
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
    });
  }

  return {
    async call(request, signal) {
      try {
        return await callOnce(request, signal, false);
      } catch (error) {
        if ((error as StatusError).code !== status.UNAUTHENTICATED) throw toError(request, error);
        return await callOnce(request, signal, true).catch(again => {
          throw toError(request, again);
        });
      }
    },
    async *stream(request, _lastEventId, signal): AsyncGenerator<TransportEvent> {
      const metadata = await toMetadata(request, false);
      const { path, bytes, responseCodec } = toCall(request);
      const call: ClientReadableStream<Buffer> = client.makeServerStreamRequest(
        path,
        asIs,
        asIs,
        bytes,
        metadata,
        NO_OPTIONS,
      );
      const abort = (): void => call.cancel();
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      try {
        for await (const response of call) yield { result: responseCodec.decode(response as Buffer) };
      } catch (error) {
        throw signal.aborted ? signal.reason : toError(request, error);
      } finally {
        signal.removeEventListener("abort", abort);
        call.cancel();
      }
    },
    close: () => client.close(),
  };
}

const asIs = (bytes: Buffer): Buffer => bytes;
const NO_OPTIONS: CallOptions = {};

interface EncodedCall {
  readonly path: string;
  readonly bytes: Buffer;
  readonly responseCodec: Codec;
}
interface GrpcClientMethod {
  readonly path: string;
  readonly requestCodec: Codec;
  readonly responseCodec: Codec;
}

function createMethods(schema: ProtobufSchema): (name: string) => GrpcClientMethod {
  const codecOf = createCodecs(schema);
  const methods = new Map(
    rpcsOf(schema).map(({ name, request, response }) => [
      name,
      {
        path: `/${schema.package}.${schema.service}/${name}`,
        requestCodec: codecOf(request),
        responseCodec: codecOf(response),
      },
    ]),
  );
  return name => {
    const method = methods.get(name);
    if (!method) throw new ClientError(`${schema.package} has no method ${name} over gRPC`);
    return method;
  };
}

/** Cards have `host:port` for gRPC, or a URL. */
function connect(address: string): Client {
  const url = parseAddress(address);
  if (!url?.host) throw new ClientError(`Invalid address for gRPC: "${address}"; expected host:port`);
  const isSecure = url.protocol === "https:" || url.protocol === "grpcs:";
  const host = url.port === "" ? `${url.hostname}:${isSecure ? 443 : 80}` : url.host;
  return new Client(host, isSecure ? credentials.createSsl() : credentials.createInsecure(), {
    "grpc.max_receive_message_length": CLIENT_LIMITS.answerBytesMax,
    "grpc.client_idle_timeout_ms": SERVER_CALL_LIMITS.idleMs,
  });
}

// ---- errors ----------------------------------------------------------------------------------------------------

/** The error of a call that did not end with OK. */
interface StatusError {
  readonly code?: number;
  readonly details?: string;
  readonly metadata?: Metadata;
}

/** Errors that have nothing but a status. */
const FAULTS: Readonly<Record<number, FaultCode>> = {
  [status.NOT_FOUND]: "task-not-found",
  [status.UNIMPLEMENTED]: "unsupported-operation",
  [status.UNAUTHENTICATED]: "unauthenticated",
  [status.PERMISSION_DENIED]: "forbidden",
  [status.INVALID_ARGUMENT]: "invalid-params",
  [status.ABORTED]: "conflict",
  [status.INTERNAL]: "internal",
};
/** A retry may succeed. */
const TRANSIENT: ReadonlySet<number | undefined> = new Set([
  status.UNAVAILABLE,
  status.RESOURCE_EXHAUSTED,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);

function toClientError(url: string, method: string, error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  const { code = status.UNKNOWN, details = "", metadata } = error as StatusError;
  const name = status[code] ?? "UNKNOWN";
  if (TRANSIENT.has(code)) {
    const isRefused = /ECONNREFUSED|No connection established/.test(details);
    return new UnavailableError(`${url} could not be reached: ${details || name}`, details || name, {
      cause: error,
      category: isRefused ? "connection-refused" : undefined,
    });
  }
  const errorDetails = readErrorDetails(metadata);
  return toRefusal({
    url,
    method,
    reason: details,
    details: errorDetails,
    fault: FAULTS[code],
    status: name,
  });
}

/** v1 §10.6: ErrorInfo and BadRequest. */
function readErrorDetails(metadata: Metadata | undefined): readonly Json[] {
  const [bytes] = metadata?.get("grpc-status-details-bin") ?? [];
  try {
    return bytes instanceof Buffer ? asList(STATUS_CODEC.decode(bytes).details) : [];
  } catch {
    return [];
  }
}
