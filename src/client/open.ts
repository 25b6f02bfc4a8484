import type { Json, JsonObject } from "../lib/json.ts";
import type { FaultCode } from "../model/index.ts";
import type { AgentAddress } from "./address.ts";
import {
  type AgentEndpoint,
  chooseEndpoint,
  dialectOf,
  type FetchedCard,
  fetchCard,
  notUsable,
  readInterfaces,
  toEndpoint,
} from "./card.ts";
import { ClientError, excerpt } from "./errors.ts";
import type { HttpAccess, HttpTarget } from "./http.ts";
import { createJsonRpc } from "./jsonrpc.ts";
import type { DialectName, ProtocolBinding } from "./protocols.ts";
import { CLIENT_BINDINGS } from "./protocols.ts";
import { asList, asObject, asText } from "./read.ts";
import { createRest } from "./rest.ts";
import type { ClosableTransport, CreateGrpc, TransportEvent, TransportRequest } from "./transport.ts";
import type {
  OutgoingMessage,
  ReceivedResponse,
  RemoteTask,
  StreamResponse,
  TaskListQuery,
  TaskPage,
  TaskRef,
} from "./types.ts";

export interface FetchedTask {
  readonly task: RemoteTask;
  readonly raw: Json;
}

/** A client of one agent, in the newest dialect that both sides support. */
export interface RemoteAgent {
  readonly name: string;
  readonly endpoint: AgentEndpoint;
  readonly streaming: boolean;
  send(message: OutgoingMessage, signal: AbortSignal): Promise<ReceivedResponse>;
  stream(message: OutgoingMessage, signal: AbortSignal): AsyncIterable<ReceivedResponse>;
  subscribe(
    task: TaskRef,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<ReceivedResponse>;
  get(task: TaskRef, signal: AbortSignal): Promise<FetchedTask>;
  cancel(task: TaskRef, signal: AbortSignal): Promise<FetchedTask>;
  list(query: TaskListQuery, signal: AbortSignal): Promise<TaskPage>;
  /** Any method of the dialect. */
  call(method: string, params: JsonObject, signal: AbortSignal): Promise<Json>;
  close(): void;
}

export interface OpenAgentParts {
  /** Where the card is, or the card itself. */
  readonly source: AgentAddress | { readonly card: JsonObject };
  /** The URL for calls, instead of the one in the card. */
  readonly url?: string | undefined;
  /** The dialect, instead of the one in the card. */
  readonly dialect?: DialectName | undefined;
  readonly transport?: ProtocolBinding | undefined;
  /** How a URL is called: that of the card, and that of the interface. */
  access(url: string): AgentAccess;
}
export interface AgentAccess extends HttpAccess {
  /** Connects over gRPC; undefined: not allowed. It connects without `fetch`, so the address is not checked. */
  readonly grpc?: CreateGrpc | undefined;
}

/** Reads the card, and chooses interface and transport. */
export async function openAgent(
  parts: OpenAgentParts,
  signal: AbortSignal,
): Promise<RemoteAgent & { readonly card: JsonObject }> {
  const { source } = parts;
  const found =
    "card" in source ? { ...source, url: "" } : await fetchCard(source, parts.access(source.base), signal);
  const endpoint = chooseProtocol(parts, found);
  const access = parts.access(endpoint.url);
  const transport = await createTransport(endpoint, access);
  return { ...createRemoteAgent(found.card, endpoint, transport), card: found.card };
}

const TRANSPORTS: readonly ProtocolBinding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/** Options take precedence over the card. */
function chooseProtocol(parts: OpenAgentParts, found: FetchedCard): AgentEndpoint {
  const { url, dialect, transport } = parts;
  if (dialect !== undefined) return toDialectEndpoint(parts, dialect, found);
  const { grpc } = parts.access(baseOf(parts));
  const usable = TRANSPORTS.filter(one => (!transport || one === transport) && (grpc || one !== "GRPC"));
  const chosen = chooseEndpoint(found, usable);
  return url === undefined ? chosen : { ...chosen, url };
}

const baseOf = ({ source }: OpenAgentParts): string => ("base" in source ? source.base : "");

function toDialectEndpoint(parts: OpenAgentParts, dialect: DialectName, found: FetchedCard): AgentEndpoint {
  const { transport = "JSONRPC" } = parts;
  const binding = CLIENT_BINDINGS[dialect].find(one => one.transport === transport);
  if (!binding) throw notUsable(`The dialect ${dialect} is not supported over ${transport}`);
  const interfaces = readInterfaces(found).filter(one => one.binding === transport);
  const iface = interfaces.find(one => dialectOf(one) === dialect) ?? interfaces[0];
  if (iface && parts.url === undefined) return toEndpoint(iface, binding, found.url);
  const url = parts.url ?? baseOf(parts);
  if (!url) throw notUsable(`The card has no interface with ${transport}`);
  return { ...binding, url };
}

async function createTransport(endpoint: AgentEndpoint, access: AgentAccess): Promise<ClosableTransport> {
  const { url, dialect, transport } = endpoint;
  const headers: Record<string, string> =
    dialect.version === undefined ? {} : { "a2a-version": dialect.version };
  const target: HttpTarget = { url, headers, fetch: access.fetch, credentials: access.credentials };
  switch (transport) {
    case "JSONRPC": {
      const { toFault, unwrappedFrames = false } = dialect;
      return createJsonRpc({ ...target, toFault, unwrappedFrames });
    }
    case "HTTP+JSON":
      return dialect.version === "1.0"
        ? createRest({ ...target, pathPrefix: "", mediaType: "application/a2a+json" })
        : createRest({ ...target, pathPrefix: "/v1", mediaType: "application/json" });
    case "GRPC": {
      if (!access.grpc)
        throw notUsable(`gRPC to ${url} needs the URL as an option, and in dragoman/client the option grpc`);
      return access.grpc(target);
    }
  }
}

function createRemoteAgent(
  card: JsonObject,
  endpoint: AgentEndpoint,
  transport: ClosableTransport,
): RemoteAgent {
  const { dialect, tenant } = endpoint;
  const { methods } = dialect;
  const required = requiredExtensions(card);
  const toRequest = (method: string, params: JsonObject): TransportRequest => ({
    method,
    params: tenant ? { tenant, ...params } : params,
  });
  const toSendRequest = (method: string, message: OutgoingMessage): TransportRequest => ({
    ...toRequest(method, dialect.writeSend(message)),
    headers: toHeaders(message, required),
    metadata:
      dialect.threadInEnvelope && message.thread !== undefined ? { thread_id: message.thread } : undefined,
  });
  const readItem = orInvalidResponse(endpoint.url, dialect.readResponse);
  const readTask = orInvalidResponse(endpoint.url, dialect.readTask);
  const fetchTask = async (method: string, task: TaskRef, signal: AbortSignal): Promise<FetchedTask> =>
    toFetchedTask(readTask, await transport.call(toRequest(method, dialect.writeTask(task)), signal));
  return {
    name: asText(card.name) ?? "",
    endpoint,
    streaming: asObject(card.capabilities).streaming === true,
    send: async (message, signal) => {
      const raw = await transport.call(toSendRequest(methods.send, message), signal);
      return { raw, item: readItem(raw) };
    },
    stream: (message, signal) =>
      readEvents(readItem, transport.stream(toSendRequest(methods.stream, message), undefined, signal)),
    subscribe: (task, lastEventId, signal) =>
      readEvents(
        readItem,
        transport.stream(toRequest(methods.subscribe, dialect.writeTask(task)), lastEventId, signal),
      ),
    get: (task, signal) => fetchTask(methods.get, task, signal),
    cancel: (task, signal) => fetchTask(methods.cancel, task, signal),
    list: async (query, signal) => {
      if (!dialect.list) throw notInDialect(endpoint, "cannot list tasks", "unsupported-operation");
      return readPage(
        readTask,
        await transport.call(toRequest(dialect.list.method, dialect.list.write(query)), signal),
      );
    },
    call: (method, params, signal) => transport.call(toRequest(method, params), signal),
    close: () => transport.close?.(),
  };
}

/** v1 §3.3.4: a header names the extensions of the message, and those that the agent requires. */
function toHeaders(
  { headers, extensions = [] }: OutgoingMessage,
  required: readonly string[],
): TransportRequest["headers"] {
  const all = [...new Set([...required, ...extensions])];
  return all.length > 0 ? { "a2a-extensions": all.join(", "), ...headers } : headers;
}

const requiredExtensions = (card: JsonObject): readonly string[] =>
  asList(asObject(card.capabilities).extensions)
    .map(asObject)
    .filter(one => one.required === true)
    .flatMap(one => asText(one.uri) ?? []);

export const notInDialect = ({ url, dialect }: AgentEndpoint, what: string, code: FaultCode) =>
  new ClientError(`The agent at ${url} uses ${dialect.title}, which ${what}`, undefined, undefined, code);

/** Any error while a response is parsed means that the response is invalid. */
function orInvalidResponse<T>(url: string, read: (raw: Json) => T): (raw: Json) => T {
  return raw => {
    try {
      return read(raw);
    } catch (error) {
      throw new ClientError(`${url} sent an invalid A2A response: ${excerpt(JSON.stringify(raw))}`, error);
    }
  };
}

const toFetchedTask = (read: (raw: Json) => RemoteTask, raw: Json): FetchedTask => ({ raw, task: read(raw) });

async function* readEvents(
  read: (raw: Json) => StreamResponse,
  events: AsyncIterable<TransportEvent>,
): AsyncGenerator<ReceivedResponse> {
  for await (const { id, result } of events)
    yield { item: read(result), raw: result, ...(id !== undefined && { eventId: id }) };
}

function readPage(read: (raw: Json) => RemoteTask, result: Json): TaskPage {
  const from = asObject(result);
  const { totalSize } = from;
  return {
    tasks: asList(from.tasks).map(raw => toFetchedTask(read, raw)),
    nextPageToken: asText(from.nextPageToken) ?? "",
    ...(typeof totalSize === "number" && { totalSize }),
  };
}
