import { type Timers, waitFor } from "../lib/timers.ts";
import {
  type Credential,
  type ErrorRecord,
  LIMITS,
  type Message,
  type StepKey,
  type StepRecord,
  type Task,
  type Trace,
  taskSize,
} from "../model/index.ts";
import type {
  AuthorizationOptions,
  AuthorizationRequest,
  Bus,
  CallerCredentials,
  CallerItems,
  ContextStorage,
  CredentialOwner,
  LocalAgents,
  Log,
  McpServerProvider,
  OpenItems,
  OpenLocalAgents,
  Outbound,
  Run,
  Store,
  Turn,
} from "../ports/index.ts";
import { withFacts } from "../ports/log.ts";

/** Earlier tasks of a context in the history. */
const HISTORY_TASKS_MAX = 100;
const WHOLE = { artifacts: true } as const;

export interface TurnParts {
  readonly store: Store;
  readonly items: OpenItems;
  readonly credentials: CallerCredentials;
  readonly outbound: Outbound;
  readonly agents: OpenLocalAgents;
  readonly tools: McpServerProvider;
  readonly log: Log;
  readonly newId: () => string;
  readonly now: () => number;
  readonly random: () => number;
  readonly timers: Timers;
}

export interface RunExecutorParts extends TurnParts {
  readonly bus: Bus;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly leaseMs: number;
  readonly cancelGraceMs: number;
  readonly attemptsMax: number;
  readonly toErrorRecord: (error: unknown) => ErrorRecord;
  /** In development: reports what an agent threw, and returns what its caller is told about it. */
  readonly onFailure?: ((run: Run, error: unknown) => string) | undefined;
}

/** The part of a turn that its run provides. */
export interface TurnHost {
  readonly signal: AbortSignal;
  readonly incoming: AsyncIterable<Message>;
  findStep(key: StepKey): Promise<StepRecord | null>;
  recordStep(step: StepRecord): Promise<void>;
}

export class RunTurn implements Turn {
  readonly task: Task;
  readonly message: Message;
  readonly attempt: number;
  readonly #run: Run;
  readonly #parts: TurnParts;
  readonly #host: TurnHost;
  #log: Log | undefined;

  constructor(parts: TurnParts, run: Run, host: TurnHost) {
    this.task = run.task;
    this.message = messageOf(run.task);
    this.attempt = run.attempt - run.task.attemptsBefore;
    this.#run = run;
    this.#parts = parts;
    this.#host = host;
  }

  /** Created on the first access: most short runs never need it. */
  get signal(): AbortSignal {
    return this.#host.signal;
  }

  get incoming(): AsyncIterable<Message> {
    return this.#host.incoming;
  }

  get log(): Log {
    this.#log ??= runLog(this.#parts.log, this.#run);
    return this.#log;
  }

  findStep(key: StepKey): Promise<StepRecord | null> {
    return this.#host.findStep(key);
  }

  recordStep(step: StepRecord): Promise<void> {
    return this.#host.recordStep(step);
  }

  get storage(): ContextStorage {
    const { storage } = this.#parts.store;
    const area = { scope: this.#run.scope, agent: this.task.agent, area: this.task.contextId };
    return {
      get: key => storage.get(area, key),
      list: range => storage.list(area, range),
      put: changes => storage.put(area, changes),
    };
  }

  get items(): CallerItems {
    return this.#parts.items(this.#run.scope);
  }

  get caller(): Turn["caller"] {
    return this.#run.scope;
  }

  credentials(name: string): Promise<Credential | undefined> {
    return this.#parts.credentials.get(this.#owner(), name);
  }

  authorizationOptions(request: AuthorizationRequest): AuthorizationOptions {
    return this.#parts.credentials.authorizationOptions(this.#owner(), this.task.id, request);
  }

  #owner(): CredentialOwner {
    return { scope: this.#run.scope, agent: this.task.agent };
  }

  get outbound(): Outbound {
    return this.#parts.outbound;
  }

  get agents(): LocalAgents {
    return this.#parts.agents(this.#run.scope);
  }

  get tools(): McpServerProvider {
    return this.#parts.tools;
  }

  get trace(): Trace | undefined {
    return this.task.trace;
  }

  newId(): string {
    return this.#parts.newId();
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return waitFor(this.#parts.timers, ms, signal);
  }

  now(): number {
    return this.#parts.now();
  }

  random(): number {
    return this.#parts.random();
  }

  async history(): Promise<readonly Message[]> {
    const { contextId, agent, id } = this.task;
    const earlier: Task[] = [];
    let [seen, size] = [0, 0];
    for (let pageToken = ""; ; ) {
      const filter = {
        contextId,
        pageSize: HISTORY_TASKS_MAX - seen,
        ...(pageToken !== "" && { pageToken }),
      };
      const page = await this.#parts.store.tasks.list(this.#run.scope, agent, filter);
      for (const task of page.tasks) {
        if (task.id >= id) continue;
        size += taskSize(task, WHOLE);
        if (size > LIMITS.historyBytesMax && earlier.length > 0) return toConversation(earlier);
        earlier.push(task);
      }
      seen += page.tasks.length;
      pageToken = page.nextPageToken;
      if (pageToken === "" || seen >= HISTORY_TASKS_MAX) return toConversation(earlier);
      // A page may be large, and some stores read it synchronously.
      await new Promise(resolve => void setImmediate(resolve));
    }
  }
}

/** The log with the task, agent and attempt in every line. */
export function runLog(log: Log, { task, attempt }: Run): Log {
  const { id: taskId, agent, trace } = task;
  const traceId = trace?.traceparent.split("-")[1];
  return withFacts(log, { taskId, agent, attempt, ...(traceId !== undefined && { traceId }) });
}

function messageOf(task: Task): Message {
  // Snapshots of older servers lack `message`.
  const message = task.message ?? task.history.findLast(one => one.role === "user");
  if (!message) throw new Error("a run without a message");
  return message;
}

const toConversation = (tasks: Task[]): readonly Message[] =>
  tasks.sort((a, b) => (a.id < b.id ? -1 : 1)).flatMap(toMessages);

/** A task as a conversation: its messages, and the artifacts as one more. */
function toMessages(task: Task): readonly Message[] {
  const parts = task.artifacts.flatMap(artifact => artifact.parts);
  const { contextId, id: taskId } = task;
  const result: Message[] =
    parts.length > 0 ? [{ messageId: `${task.id}-result`, role: "agent", parts, contextId, taskId }] : [];
  return [...task.history, ...(task.status.message ? [task.status.message] : []), ...result];
}
