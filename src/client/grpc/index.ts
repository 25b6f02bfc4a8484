import {
  type CallOptions,
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  status,
} from "@grpc/grpc-js";
import type { Json } from "../../lib/json.ts";
import { PROTOBUF as V1 } from "../../protocol/a2a-v1/schema.ts";
import { PROTOBUF as V03 } from "../../protocol/a2a-v03/schema.ts";
import { type Codec, createCodecs } from "../../protocol/protobuf/codec.ts";
import { DETAILS } from "../../protocol/protobuf/details.ts";
import type { Schema } from "../../protocol/protobuf/schema.ts";
import { parseAddress } from "../address.ts";
import { Lost, Refusal, type RefusalKind, Trouble } from "../errors.ts";
import type { Link } from "../http.ts";
import { violationsOf } from "../jsonrpc.ts";
import { CLIENT_LIMITS } from "../limits.ts";
import { asList, asObject, asText } from "../read.ts";
import type { Asked, Piece, Transport } from "../transport.ts";

/** gRPC, with the packages of v1 and v0.3 as this server itself has them. */
export function createGrpc(link: Link): Transport & { close(): void } {
  const schema: Schema = link.headers["a2a-version"] === V1_VERSION ? V1 : V03;
  const methodOf = createMethods(schema);
  const client = connect(link.url);
  return {
    call: (asked, signal) => withCredentials(link, asked, again => unary(client, methodOf, again, signal)),
    async *stream(asked, _lastEventId, signal) {
      const headers = { ...link.headers, ...asked.headers, ...(await link.credentials(false)) };
      yield* stream(client, methodOf, { ...asked, headers }, link.url, signal);
    },
    close: () => client.close(),
  };

  async function withCredentials(
    { url }: Link,
    asked: Asked,
    call: (asked: Asked) => Promise<Json>,
  ): Promise<Json> {
    const say = async (refused: boolean): Promise<Asked> => ({
      ...asked,
      headers: { ...link.headers, ...asked.headers, ...(await link.credentials(refused)) },
    });
    try {
      return await call(await say(false));
    } catch (error) {
      if (codeOf(error) !== status.UNAUTHENTICATED) throw toTrouble(url, asked.method, error);
      return await call(await say(true)).catch(again => {
        throw toTrouble(url, asked.method, again);
      });
    }
  }
}

const V1_VERSION = "1.0";

/** What a call ends with that did not go well. */
interface BadStatus {
  readonly code?: number;
  readonly details?: string;
  readonly metadata?: Metadata;
}

interface Method {
  readonly path: string;
  readonly takes: Codec;
  readonly gives: Codec;
}

function createMethods(schema: Schema): (name: string) => Method {
  const codecOf = createCodecs(schema);
  return name => {
    const [, takes, gives] = /^(\w+): (?:stream )?(\w+)$/.exec(schema.rpcs[name] ?? "") ?? [];
    if (takes === undefined || gives === undefined)
      throw new Trouble(`gRPC has no method ${name} in ${schema.package}`);
    const path = `/${schema.package}.${schema.service}/${name}`;
    return { path, takes: codecOf(takes), gives: codecOf(gives) };
  };
}

/** Cards have a host and a port there, or an address with a scheme. */
function connect(address: string): Client {
  const url = parseAddress(address);
  if (!url?.host) throw new Trouble(`"${address}" is no address for gRPC. Write it like host:port`);
  const isSecure = url.protocol === "https:" || url.protocol === "grpcs:";
  const host = url.port === "" ? `${url.hostname}:${isSecure ? 443 : 80}` : url.host;
  return new Client(host, isSecure ? credentials.createSsl() : credentials.createInsecure(), {
    "grpc.max_receive_message_length": CLIENT_LIMITS.answerBytesMax,
    "grpc.client_idle_timeout_ms": CLIENT_LIMITS.idleMs,
  });
}

const asIs = (bytes: Buffer): Buffer => bytes;
const NO_OPTIONS: CallOptions = {};

function unary(
  client: Client,
  methodOf: (name: string) => Method,
  asked: Asked,
  signal: AbortSignal,
): Promise<Json> {
  const { path, takes, gives } = methodOf(asked.method);
  const bytes = takes.encode(JSON.stringify(asked.params));
  return new Promise((resolve, reject) => {
    const done = (error: BadStatus | null, reply?: Buffer): void => {
      signal.removeEventListener("abort", stop);
      if (error) reject(signal.aborted ? signal.reason : error);
      else resolve(gives.decode(reply as Buffer));
    };
    const call = client.makeUnaryRequest(path, asIs, asIs, bytes, toMetadata(asked), NO_OPTIONS, done);
    const stop = (): void => call.cancel();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}

async function* stream(
  client: Client,
  methodOf: (name: string) => Method,
  asked: Asked,
  url: string,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const { path, takes, gives } = methodOf(asked.method);
  const bytes = takes.encode(JSON.stringify(asked.params));
  const call: ClientReadableStream<Buffer> = client.makeServerStreamRequest(
    path,
    asIs,
    asIs,
    bytes,
    toMetadata(asked),
    NO_OPTIONS,
  );
  const stop = (): void => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const reply of call) yield { result: gives.decode(reply as Buffer) };
  } catch (error) {
    throw signal.aborted ? signal.reason : toTrouble(url, asked.method, error);
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

function toMetadata({ headers = {} }: Asked): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

const codeOf = (error: unknown): number | undefined => (error as BadStatus).code;

const KINDS: Readonly<Record<number, RefusalKind>> = {
  [status.NOT_FOUND]: "task-not-found",
  [status.UNIMPLEMENTED]: "unsupported",
  [status.UNAUTHENTICATED]: "unauthenticated",
};
const REASONS: Readonly<Record<string, RefusalKind>> = {
  TASK_NOT_FOUND: "task-not-found",
  UNSUPPORTED_OPERATION: "unsupported",
};
/** What may be better soon. */
const PASSING: ReadonlySet<number | undefined> = new Set([
  status.UNAVAILABLE,
  status.RESOURCE_EXHAUSTED,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);

function toTrouble(url: string, method: string, error: unknown): Trouble {
  if (error instanceof Trouble) return error;
  const { code = status.UNKNOWN, details = "", metadata } = error as BadStatus;
  const name = status[code] ?? "UNKNOWN";
  if (PASSING.has(code)) {
    const isRefused = /ECONNREFUSED|No connection established/.test(details);
    const message = `${url} could not be reached: ${details || name}`;
    return new Lost(message, details || name, { cause: error, symptom: isRefused ? "refused" : undefined });
  }
  const told = detailsOf(metadata);
  const reasons = told.map(one => REASONS[asText(asObject(one).reason) ?? ""]);
  const fields = violationsOf(told);
  const said = `${details}${fields && ` (${fields})`}`;
  const kind = reasons.find(Boolean) ?? KINDS[code] ?? "other";
  return new Refusal(kind, `${url} refused ${method}: ${said} [${name}]`, said);
}

/** v1 §10.6: what programs need to know of an error. */
function detailsOf(metadata: Metadata | undefined): readonly Json[] {
  const [bytes] = metadata?.get("grpc-status-details-bin") ?? [];
  try {
    return bytes instanceof Buffer ? asList(asObject(DETAILS.decode(bytes)).details) : [];
  } catch {
    return [];
  }
}
