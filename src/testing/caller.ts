/** A scripted caller: the client of this project, over requests that never leave the process. */
import { parseAgentAddress } from "../client/address.ts";
import { type AgentUpdate, dedupe } from "../client/dedupe.ts";
import { openAgent, type RemoteAgent } from "../client/open.ts";
import { updateProgress } from "../client/progress.ts";
import type { DialectName } from "../client/protocols.ts";
import { answers } from "../client/questions.ts";
import { readResumable } from "../client/resume.ts";
import { type RetryOptions, withRetry } from "../client/retry.ts";
import { readStarted, startStream } from "../client/start-stream.ts";
import type { OutgoingMessage, RemoteTask } from "../client/types.ts";
import type { Json, JsonObject } from "../lib/json.ts";
import { type Message, type Part, textOf } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";
import { settle } from "./virtual-clock.ts";

export interface CallerOptions {
  /** The name of the agent; default: the agent at /. */
  readonly agent?: string | undefined;
  /** How the caller speaks: "v1" (default), "v0.3", "langgraph", … */
  readonly dialect?: DialectName | undefined;
  /** Headers of every request, such as an Authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A text, the data of a data part, the answers to the questions of `ctx.askAll` by their ids, or parts. */
export type TestContent =
  | string
  | readonly Part[]
  | { readonly data: Json }
  | { readonly answers: Readonly<Record<string, Json>> };

export interface TestSendOptions {
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  /** Of the message: `{ skillId: "route" }` names a skill. */
  readonly metadata?: JsonObject | undefined;
}

export interface Received {
  /** undefined: the agent replied with a message. */
  readonly task: RemoteTask | undefined;
  readonly reply: Message | undefined;
}

/** The host in URLs of a server without sockets. */
export const TEST_URL = "http://localhost";
/** A server that crashed is back at once: more losses than this are a mistake of the test. */
const RETRIES = Array.from({ length: 100 }, () => 0);
const SIGNAL = new AbortController().signal;
const RETRY: RetryOptions = { delaysMs: RETRIES, signal: SIGNAL, sleep: settle, onRetry() {} };

/** Where dialects with paths of their own are served. */
const PATHS: Partial<Record<DialectName, (agent: string) => string>> = {
  langgraph: agent => `/a2a/${agent}`,
  orloj: agent => `/v1/agent-systems/${agent}/a2a`,
  arbiter: agent => `/v1/a2a/agents/${agent}`,
};
/** In the other dialects every send waits for the end of the turn. */
const RETURNS_IMMEDIATELY: ReadonlySet<DialectName> = new Set(["v1", "v0.3", "v0.2"]);
const SHARED_PATH = (agent: string): string => `/agents/${agent}`;

export class CallerConnection {
  readonly #fetch: Fetch;
  readonly #options: CallerOptions & { readonly agent: string };
  #agent: Promise<RemoteAgent> | undefined;
  #sent = 0;
  readonly #newId: () => string;

  constructor(fetch: Fetch, newId: () => string, options: CallerOptions & { readonly agent: string }) {
    this.#fetch = fetch;
    this.#newId = newId;
    this.#options = options;
  }

  /** Returns as soon as the task is recorded. */
  async start(content: TestContent, options: TestSendOptions): Promise<Received> {
    const { dialect = "v1" } = this.#options;
    if (RETURNS_IMMEDIATELY.has(dialect)) return this.send(content, options, true);
    const agent = await this.#open();
    const reading = new AbortController();
    const parts = { ...RETRY, signal: reading.signal, agent, resend: true };
    const { first } = await startStream(parts, this.#toMessage(content, options));
    // The end of a reading does not end a run.
    reading.abort();
    if (first.item.kind === "message") return { task: undefined, reply: first.item.message };
    const { taskId = "", contextId = "" } = updateProgress({}, first);
    return { task: await this.get(taskId, contextId), reply: undefined };
  }

  async send(content: TestContent, options: TestSendOptions, returnImmediately = false): Promise<Received> {
    const agent = await this.#open();
    const message = { ...this.#toMessage(content, options), returnImmediately };
    // The same id and the same key: a message that arrived before the connection broke is not taken twice.
    const { item } = await withRetry(RETRY, () => agent.send(message, SIGNAL));
    if (item.kind === "message") return { task: undefined, reply: item.message };
    if (item.kind === "task") return { task: item.task, reply: undefined };
    throw new Error(`The answer to a send is neither a task nor a message: ${item.kind}`);
  }

  async *stream(content: TestContent, options: TestSendOptions): AsyncGenerator<AgentUpdate> {
    const agent = await this.#open();
    const message = this.#toMessage(content, options);
    const parts = { ...RETRY, agent, until: "settled", isFollowUp: options.taskId !== undefined } as const;
    const started = await startStream({ ...parts, resend: true }, message);
    yield* dedupe(readResumable(parts, readStarted(started), {}), agent.endpoint.dialect);
  }

  async get(taskId: string, contextId: string): Promise<RemoteTask> {
    const agent = await this.#open();
    const { task } = await withRetry(RETRY, () => agent.get({ taskId, contextId }, SIGNAL));
    return task;
  }

  async cancel(taskId: string, contextId: string): Promise<RemoteTask> {
    const agent = await this.#open();
    const { task } = await withRetry(RETRY, () => agent.cancel({ taskId, contextId }, SIGNAL));
    return task;
  }

  #open(): Promise<RemoteAgent> {
    const { agent, dialect, headers = {} } = this.#options;
    const access = { fetch: this.#fetch, credentials: async () => headers };
    const path = (dialect && PATHS[dialect]) ?? SHARED_PATH;
    const chosen = dialect && { dialect, url: `${TEST_URL}${path(agent)}` };
    const source = parseAgentAddress(TEST_URL, agent);
    this.#agent ??= withRetry(RETRY, () => openAgent({ source, access: () => access, ...chosen }, SIGNAL));
    return this.#agent;
  }

  #toMessage(content: TestContent, { contextId, taskId, metadata }: TestSendOptions): OutgoingMessage {
    const messageId = `${this.#newId()}-${++this.#sent}`;
    return {
      messageId,
      parts: toParts(content),
      headers: { "idempotency-key": messageId },
      ...(contextId !== undefined && { contextId }),
      ...(taskId !== undefined && { taskId }),
      ...(metadata && { metadata }),
    };
  }
}

function toParts(content: TestContent): readonly Part[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if ("answers" in content) return [answers(content.answers)];
  return "data" in content ? [{ kind: "data", data: content.data }] : content;
}

/** All text of a task: of its artifacts, or of the message that the agent replied with. */
export const textIn = ({ task, reply }: Received): string =>
  textOf(reply?.parts ?? task?.artifacts.flatMap(artifact => artifact.parts) ?? []);
