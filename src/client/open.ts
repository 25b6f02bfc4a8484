import type { Json, JsonObject } from "../lib/json.ts";
import type { Target } from "./address.ts";
import {
  chooseEndpoint,
  dialectOf,
  type Endpoint,
  type FoundCard,
  fetchCard,
  offersOf,
  toEndpoint,
} from "./card.ts";
import { excerpt, Trouble } from "./errors.ts";
import type { Access, Link } from "./http.ts";
import { createJsonRpc } from "./jsonrpc.ts";
import type { DialectName, TransportName } from "./protocols.ts";
import { TONGUES } from "./protocols.ts";
import { asList, asObject, asText } from "./read.ts";
import { createRest } from "./rest.ts";
import type { Asked, Piece, Transport } from "./transport.ts";
import type { Draft, Item, ListWish, Received, RemoteTask, TaskPage, TaskRef } from "./types.ts";

export interface SeenTask {
  readonly task: RemoteTask;
  readonly raw: Json;
}

/** An agent somewhere else, spoken to in the newest dialect that it and we share. */
export interface RemoteAgent {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly streaming: boolean;
  send(draft: Draft, signal: AbortSignal): Promise<Received>;
  stream(draft: Draft, signal: AbortSignal): AsyncIterable<Received>;
  subscribe(task: TaskRef, lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<Received>;
  get(task: TaskRef, signal: AbortSignal): Promise<SeenTask>;
  cancel(task: TaskRef, signal: AbortSignal): Promise<SeenTask>;
  list(wish: ListWish, signal: AbortSignal): Promise<TaskPage>;
  close(): void;
}

export interface OpenParts {
  /** Where the card may be; undefined: there is none, and everything is said here. */
  readonly target: Target | undefined;
  /** The card itself, if it is known. */
  readonly card?: JsonObject | undefined;
  /** Where calls go, whatever the card says. */
  readonly url?: string | undefined;
  /** What is spoken, whatever the card says. */
  readonly dialect?: DialectName | undefined;
  readonly transport?: TransportName | undefined;
  /** How an address is called: the card's, and the one that it names. */
  access(url: string): AgentAccess;
}
export interface AgentAccess extends Access {
  /** Connections may be made without `fetch`, as gRPC needs it: nobody looks where they go. */
  readonly direct: boolean;
}

/** Where there is none, nothing speaks against a stream. */
const NO_CARD: FoundCard = { url: "", card: { capabilities: { streaming: true } } };

/** Reads the card and chooses how to talk. */
export async function openAgent(
  parts: OpenParts,
  signal: AbortSignal,
): Promise<RemoteAgent & { readonly card: JsonObject }> {
  const found = await findCard(parts, signal);
  const endpoint = settle(parts, found);
  const access = parts.access(endpoint.url);
  const transport = await createTransport(endpoint, access);
  return { ...createRemoteAgent(found.card, endpoint, transport), card: found.card };
}

async function findCard({ target, card, access }: OpenParts, signal: AbortSignal): Promise<FoundCard> {
  if (card) return { url: "", card };
  return target ? fetchCard(target, access(target.base), signal) : NO_CARD;
}

const ALL: readonly TransportName[] = ["JSONRPC", "HTTP+JSON", "GRPC"];
const OVER_FETCH: readonly TransportName[] = ["JSONRPC", "HTTP+JSON"];

/** What is said openly counts more than what the card says. */
function settle(parts: OpenParts, found: FoundCard): Endpoint {
  const { url, dialect, target, card } = parts;
  if (dialect !== undefined) return named(parts, dialect, found);
  if (!target && !card) throw new Trouble("An agent without a card needs an address and a dialect");
  const usable = parts.access(target?.base ?? "").direct ? ALL : OVER_FETCH;
  const wanted = parts.transport ? usable.filter(one => one === parts.transport) : usable;
  const chosen = chooseEndpoint(found, wanted);
  return url === undefined ? chosen : { ...chosen, url };
}

function named(parts: OpenParts, dialect: DialectName, { card, url: cardUrl }: FoundCard): Endpoint {
  const { transport = "JSONRPC" } = parts;
  const tongue = TONGUES[dialect].find(one => one.transport === transport);
  if (!tongue) throw new Trouble(`The dialect ${dialect} is not spoken over ${transport}`);
  const offers = offersOf(card).filter(one => one.binding === transport);
  const offer = offers.find(one => dialectOf(one) === dialect) ?? offers[0];
  if (offer && parts.url === undefined) return toEndpoint(offer, tongue, cardUrl);
  const url = parts.url ?? parts.target?.base;
  if (url === undefined) throw new Trouble("An agent without a card needs an address and a dialect");
  return { ...tongue, url };
}

async function createTransport(
  endpoint: Endpoint,
  access: AgentAccess,
): Promise<Transport & { close?(): void }> {
  const { url, dialect, transport } = endpoint;
  const headers: Record<string, string> =
    dialect.version === undefined ? {} : { "a2a-version": dialect.version };
  const link: Link = { url, headers, fetch: access.fetch, credentials: access.credentials };
  switch (transport) {
    case "JSONRPC": {
      const { kindOfNumber, bareFrames = false } = dialect;
      return createJsonRpc({ ...link, kindOfNumber, bareFrames });
    }
    case "HTTP+JSON":
      return dialect.version === "1.0"
        ? createRest({ ...link, below: "", mediaType: "application/a2a+json" })
        : createRest({ ...link, below: "/v1", mediaType: "application/json" });
    case "GRPC": {
      if (!access.direct)
        throw new Trouble(
          `${url} is not called: gRPC is only for an origin that was chosen; name it with the option endpoint`,
        );
      const { createGrpc } = await import("./grpc/index.ts");
      return createGrpc(link);
    }
  }
}

function createRemoteAgent(
  card: JsonObject,
  endpoint: Endpoint,
  transport: Transport & { close?(): void },
): RemoteAgent {
  const { dialect, tenant } = endpoint;
  const { methods } = dialect;
  const demanded = demandedBy(card);
  const ask = (method: string, params: JsonObject): Asked => ({
    method,
    params: tenant ? { tenant, ...params } : params,
  });
  const askSend = (method: string, draft: Draft): Asked => ({
    ...ask(method, dialect.writeSend(draft)),
    headers: headersOf(draft, demanded),
    metadata: dialect.threadBeside && draft.thread !== undefined ? { thread_id: draft.thread } : undefined,
  });
  const readItem = understood(endpoint.url, dialect.readItem);
  const readTask = understood(endpoint.url, dialect.readTask);
  const seen = async (method: string, task: TaskRef, signal: AbortSignal): Promise<SeenTask> =>
    see(readTask, await transport.call(ask(method, dialect.writeTask(task)), signal));
  return {
    name: asText(card.name) ?? "",
    endpoint,
    streaming: asObject(card.capabilities).streaming === true,
    send: async (draft, signal) => {
      const raw = await transport.call(askSend(methods.send, draft), signal);
      return { raw, item: readItem(raw) };
    },
    stream: (draft, signal) =>
      receive(readItem, transport.stream(askSend(methods.stream, draft), undefined, signal)),
    subscribe: (task, lastEventId, signal) =>
      receive(
        readItem,
        transport.stream(ask(methods.subscribe, dialect.writeTask(task)), lastEventId, signal),
      ),
    get: (task, signal) => seen(methods.get, task, signal),
    cancel: (task, signal) => seen(methods.cancel, task, signal),
    list: async (wish, signal) => {
      if (!dialect.list) throw cannotList(endpoint);
      return readPage(
        readTask,
        await transport.call(ask(dialect.list.method, dialect.list.write(wish)), signal),
      );
    },
    close: () => transport.close?.(),
  };
}

/** v1 §3.3.4: extensions are named in a header: those that the message is about, and those that the agent demands. */
function headersOf({ headers, extensions = [] }: Draft, demanded: readonly string[]): Asked["headers"] {
  const all = [...new Set([...demanded, ...extensions])];
  return all.length > 0 ? { "a2a-extensions": all.join(", "), ...headers } : headers;
}

const demandedBy = (card: JsonObject): readonly string[] =>
  asList(asObject(card.capabilities).extensions)
    .map(asObject)
    .filter(one => one.required === true)
    .flatMap(one => asText(one.uri) ?? []);

const cannotList = (endpoint: Endpoint) =>
  new Trouble(
    `The agent at ${endpoint.url} speaks ${endpoint.dialect.title}, which has no word for a list of tasks`,
  );

/** Whatever a reader stumbles over, the sender is to blame. */
function understood<T>(url: string, read: (raw: Json) => T): (raw: Json) => T {
  return raw => {
    try {
      return read(raw);
    } catch (error) {
      throw new Trouble(
        `${url} sent something that is no A2A answer: ${excerpt(JSON.stringify(raw))}`,
        error,
      );
    }
  };
}

const see = (read: (raw: Json) => RemoteTask, raw: Json): SeenTask => ({ raw, task: read(raw) });

async function* receive(read: (raw: Json) => Item, pieces: AsyncIterable<Piece>): AsyncGenerator<Received> {
  for await (const { id, result } of pieces)
    yield { item: read(result), raw: result, ...(id !== undefined && { eventId: id }) };
}

function readPage(read: (raw: Json) => RemoteTask, result: Json): TaskPage {
  const from = asObject(result);
  const { totalSize } = from;
  return {
    tasks: asList(from.tasks).map(raw => see(read, raw)),
    nextPageToken: asText(from.nextPageToken) ?? "",
    ...(typeof totalSize === "number" && { totalSize }),
  };
}
