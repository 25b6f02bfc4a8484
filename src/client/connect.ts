import { defined, type JsonObject } from "../lib/json.ts";
import type { Message, Until } from "../model/index.ts";
import { isSameOrigin, parseAgentAddress } from "./address.ts";
import type {
  CallControl,
  ConnectedAgent,
  ConnectOptions,
  MessageContent,
  MessageOptions,
  TaskHandle,
  TaskUpdate,
} from "./api.ts";
import { toParts } from "./content.ts";
import type { ClientError } from "./errors.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import { newId } from "./new-id.ts";
import { type AgentAccess, type FetchedTask, openAgent, type RemoteAgent } from "./open.ts";
import { createPushHandle, type Retried } from "./push.ts";
import { readResumable, resume } from "./resume.ts";
import { type RetryOptions, withRetry } from "./retry.ts";
import { sleep } from "./sleep.ts";
import { readStarted, startStream } from "./start-stream.ts";
import type { OutgoingMessage, ReceivedResponse, RemoteTask, TaskRef } from "./types.ts";
import { toUpdates } from "./updates.ts";

/** Connects to an agent: `to` is its URL, the URL of its card or of a server with one agent, or the card itself. */
export async function connect(
  to: string | URL | JsonObject,
  options: ConnectOptions = {},
): Promise<ConnectedAgent> {
  const address = toAddress(to);
  const source =
    address === undefined ? { card: to as JsonObject } : parseAgentAddress(address, options.agent);
  const { url, signal } = options;
  const isOwn = (other: string): boolean =>
    address === undefined || isSameOrigin(other, url ?? address) || isSameOrigin(other, address);
  const access = (other: string): AgentAccess => toAccess(options, isOwn(other));
  const closed = new AbortController();
  const agent = await withRetry(toRetry(options, [closed.signal, signal]), () =>
    openAgent({ ...options, source, access }, signal ?? closed.signal),
  );
  return createClient({ agent, options, closed }, agent.card);
}

/** In a page a path is enough. */
function toAddress(to: string | URL | JsonObject): string | undefined {
  if (to instanceof URL) return to.href;
  if (typeof to !== "string") return undefined;
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  return location && /^[./]/.test(to) ? new URL(to, location.href).href : to;
}

/** A card may contain any URL: credentials are sent to the origin that the caller named, and to no other. */
function toAccess(
  { fetch = globalThis.fetch, token, headers, grpc }: ConnectOptions,
  isOwn: boolean,
): AgentAccess {
  const credentials = async (refused: boolean) => {
    const value = typeof token === "function" ? await token(refused) : token;
    return { ...headers, ...(value && { authorization: `Bearer ${value}` }) };
  };
  return {
    // Browsers refuse a `fetch` that is a method of another object.
    fetch: (url, init) => fetch(url, init),
    credentials: isOwn ? credentials : async () => ({}),
    grpc: isOwn ? grpc : undefined,
  };
}

const toRetry = (
  { retryDelaysMs = CLIENT_LIMITS.retryDelaysMs, onRetry = () => {} }: ConnectOptions,
  signals: readonly (AbortSignal | undefined)[],
): RetryOptions => ({
  delaysMs: retryDelaysMs,
  signal: AbortSignal.any(signals.filter(signal => signal !== undefined)),
  sleep,
  onRetry,
});

interface Connection {
  readonly agent: RemoteAgent;
  readonly options: ConnectOptions;
  readonly closed: AbortController;
}

/** All calls end when their own signal is aborted, or the connection is closed. */
const retryOf = ({ options, closed }: Connection, { signal }: CallControl): RetryOptions =>
  toRetry(options, [closed.signal, signal]);

function callAgent<T>(
  connection: Connection,
  options: CallControl,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const retry = retryOf(connection, options);
  return withRetry(retry, () => work(retry.signal));
}

function createClient(connection: Connection, card: JsonObject): ConnectedAgent {
  const { agent, closed } = connection;
  const { url, dialect, transport } = agent.endpoint;
  return {
    name: agent.name,
    card,
    endpoint: { url, protocol: dialect.title, transport },
    send: (content, options = {}) => lastOf(streamMessage(connection, content, options)),
    stream: (content, options = {}) => streamMessage(connection, content, options),
    task: (id, contextId) => createTaskHandle(connection, id, contextId),
    async list({ signal: own, ...query } = {}) {
      const { tasks, ...page } = await callAgent(connection, { signal: own }, signal =>
        agent.list({ pageSize: CLIENT_LIMITS.pageSize, ...query }, signal),
      );
      return { ...page, tasks: tasks.map(({ task }) => task) };
    },
    close() {
      closed.abort(new DOMException("The connection was closed", "AbortError"));
      agent.close();
    },
  };
}

async function lastOf(updates: AsyncIterable<TaskUpdate>): Promise<RemoteTask> {
  let task: RemoteTask | undefined;
  for await (const update of updates) ({ task } = update);
  return task as RemoteTask;
}

async function* streamMessage(
  connection: Connection,
  content: MessageContent,
  options: MessageOptions,
): AsyncGenerator<TaskUpdate, void> {
  const { resend = true } = connection.options;
  const message = await toOutgoing(content, options, resend);
  const retry = { ...retryOf(connection, options), agent: connection.agent };
  const started = await startStream({ ...retry, resend }, message);
  const isFollowUp = message.taskId !== undefined;
  yield* toUpdates(readResumable({ ...retry, until: "settled", isFollowUp }, readStarted(started), {}), {
    dialect: connection.agent.endpoint.dialect,
    sent: toSent(message),
  });
}

async function toOutgoing(
  content: MessageContent,
  { signal: _, messageId = newId(), ...options }: MessageOptions,
  resend: boolean,
): Promise<OutgoingMessage> {
  const message = {
    ...options,
    messageId,
    parts: await toParts(content),
    headers: resend ? { "idempotency-key": messageId } : undefined,
  };
  return defined<typeof message>(message) as OutgoingMessage;
}

const toSent = ({ messageId, parts, taskId, contextId, metadata }: OutgoingMessage): Message =>
  defined({ messageId, role: "user", parts, taskId, contextId, metadata }) as Message;

function createTaskHandle(connection: Connection, id: string, contextId: string | undefined): TaskHandle {
  const { agent } = connection;
  const ref = { taskId: id, contextId };
  const call: Retried = (options, work) => callAgent(connection, options, work);
  return {
    id,
    get: async (options = {}) => (await call(options, signal => agent.get(ref, signal))).task,
    cancel: async (options = {}) => (await call(options, signal => cancel(agent, ref, signal))).task,
    tail: (options = {}) => tail(connection, ref, options.until ?? "settled", options),
    answer: (content, options = {}) =>
      lastOf(streamMessage(connection, content, { contextId, ...options, taskId: id })),
    push: createPushHandle(agent, id, call),
  };
}

/** A task that is canceled already is returned in every dialect: the response to an earlier call may be lost. */
const cancel = (agent: RemoteAgent, ref: TaskRef, signal: AbortSignal): Promise<FetchedTask> =>
  agent.cancel(ref, signal).catch(async (error: ClientError) => {
    const found = error.code === "task-not-cancelable" ? await agent.get(ref, signal) : undefined;
    if (found?.task.state === "canceled") return found;
    throw error;
  });

function tail(
  connection: Connection,
  { taskId, contextId }: TaskRef,
  until: Until,
  options: CallControl,
): AsyncGenerator<TaskUpdate, void> {
  const { agent } = connection;
  const retry = { ...retryOf(connection, options), agent };
  const start = { taskId, ...(contextId !== undefined && { contextId }) };
  const responses: AsyncIterable<ReceivedResponse> = readResumable(
    { ...retry, until },
    resume(agent, start, retry),
    start,
  );
  return toUpdates(responses, { dialect: agent.endpoint.dialect });
}
