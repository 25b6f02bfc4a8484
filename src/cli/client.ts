import type { Json, JsonObject } from "../model/index.ts";
import { chooseEndpoint, type Endpoint, fetchCard } from "./client/card.ts";
import { asList, asObject, asText } from "./client/read.ts";
import { callRpc, type Link, streamRpc } from "./client/rpc.ts";
import type { Target } from "./client/target.ts";
import type { Draft, Item, ListWish, Received, RemoteTask, TaskPage } from "./client/view.ts";
import { excerpt, Trouble } from "./trouble.ts";

export interface SeenTask {
  readonly task: RemoteTask;
  readonly raw: Json;
}

/** An agent somewhere else, spoken to over JSON-RPC in the newest version that it and we share. */
export interface RemoteAgent {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly streaming: boolean;
  send(draft: Draft, signal: AbortSignal): Promise<Received>;
  stream(draft: Draft, signal: AbortSignal): AsyncIterable<Received>;
  subscribe(taskId: string, lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<Received>;
  get(taskId: string, signal: AbortSignal): Promise<SeenTask>;
  cancel(taskId: string, signal: AbortSignal): Promise<SeenTask>;
  list(wish: ListWish, signal: AbortSignal): Promise<TaskPage>;
}

export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** Reads the card and chooses how to talk. */
export async function openAgent(target: Target, access: Access, signal: AbortSignal): Promise<RemoteAgent> {
  const found = await fetchCard(target, access, signal);
  const endpoint = chooseEndpoint(found);
  return createRemoteAgent(found.card, endpoint, access);
}

function createRemoteAgent(card: JsonObject, endpoint: Endpoint, access: Access): RemoteAgent {
  const { dialect, tenant } = endpoint;
  const { methods } = dialect;
  const link = toLink(endpoint, access);
  const say = (params: JsonObject): JsonObject => (tenant ? { tenant, ...params } : params);
  const readItem = understood(endpoint.url, dialect.readItem);
  const readTask = understood(endpoint.url, dialect.readTask);
  const many = (method: string, params: JsonObject, lastEventId: string | undefined, signal: AbortSignal) =>
    receive(readItem, streamRpc(link, method, say(params), lastEventId, signal));
  const seen = async (method: string, taskId: string, signal: AbortSignal) =>
    see(readTask, await callRpc(link, method, say({ id: taskId }), signal));
  return {
    name: asText(card.name) ?? "",
    endpoint,
    streaming: asObject(card.capabilities).streaming === true,
    send: async (draft, signal) => {
      const raw = await callRpc(link, methods.send, say(dialect.writeSend(draft)), signal);
      return { raw, item: readItem(raw) };
    },
    stream: (draft, signal) => many(methods.stream, dialect.writeSend(draft), undefined, signal),
    subscribe: (taskId, lastEventId, signal) => many(methods.subscribe, { id: taskId }, lastEventId, signal),
    get: (taskId, signal) => seen(methods.get, taskId, signal),
    cancel: (taskId, signal) => seen(methods.cancel, taskId, signal),
    list: async (wish, signal) => {
      if (!dialect.list) throw cannotList(endpoint);
      return readPage(
        readTask,
        await callRpc(link, dialect.list.method, say(dialect.list.write(wish)), signal),
      );
    },
  };
}

const toLink = (endpoint: Endpoint, access: Access): Link => ({
  url: endpoint.url,
  fetch: access.fetch,
  headers: { "a2a-version": endpoint.dialect.version, ...access.headers },
});

const cannotList = (endpoint: Endpoint) =>
  new Trouble(
    `The agent at ${endpoint.url} speaks A2A ${endpoint.dialect.version}, which has no word for a list of tasks`,
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

async function* receive(
  read: (raw: Json) => Item,
  pieces: ReturnType<typeof streamRpc>,
): AsyncGenerator<Received> {
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
