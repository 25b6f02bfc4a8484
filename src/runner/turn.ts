import {
  type Credential,
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
  ContextStorage,
  CredentialOwner,
  Credentials,
  Log,
  McpServers,
  Outbound,
  Page,
  Run,
  Store,
  Turn,
} from "../ports/index.ts";
import { withFacts } from "../ports/log.ts";

/** Earlier tasks of a context that an agent can look back on. */
const HISTORY_TASKS_MAX = 100;

export interface TurnParts {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly outbound: Outbound;
  readonly tools: McpServers;
  readonly log: Log;
  readonly newId: () => string;
  readonly now: () => number;
  readonly random: () => number;
}

/** What a turn gets from the run that it is worked on in. */
export interface TurnHost {
  readonly signal: AbortSignal;
  readonly incoming: AsyncIterable<Message>;
  recall(place: StepKey): Promise<StepRecord | null>;
  note(note: StepRecord): Promise<void>;
}

/** What a runtime gets to work with. */
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

  /** Made when first asked for: most short runs never look at it. */
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

  findStep(place: StepKey): Promise<StepRecord | null> {
    return this.#host.recall(place);
  }

  recordStep(note: StepRecord): Promise<void> {
    return this.#host.note(note);
  }

  get storage(): ContextStorage {
    const { storage: shelf } = this.#parts.store;
    const place = { scope: this.#run.scope, agent: this.task.agent, area: this.task.contextId };
    return {
      get: key => shelf.get(place, key),
      list: range => shelf.list(place, range),
      put: changes => shelf.put(place, changes),
    };
  }

  get caller(): Turn["caller"] {
    return this.#run.scope;
  }

  credentials(name: string): Promise<Credential | undefined> {
    return this.#parts.credentials.get(this.#owner(), name);
  }

  authorizationOptions(wish: AuthorizationRequest): AuthorizationOptions {
    return this.#parts.credentials.authorizationOptions(this.#owner(), this.task.id, wish);
  }

  #owner(): CredentialOwner {
    return { scope: this.#run.scope, agent: this.task.agent };
  }

  get outbound(): Outbound {
    return this.#parts.outbound;
  }

  get tools(): McpServers {
    return this.#parts.tools;
  }

  get trace(): Trace | undefined {
    return this.task.trace;
  }

  newId(): string {
    return this.#parts.newId();
  }

  now(): number {
    return this.#parts.now();
  }

  random(): number {
    return this.#parts.random();
  }

  async history(): Promise<readonly Message[]> {
    const earlier: Task[] = [];
    let [seen, size] = [0, 0];
    for (let pageToken = ""; ; ) {
      const page = await this.#listContext(HISTORY_TASKS_MAX - seen, pageToken);
      for (const one of page.tasks) {
        if (one.id >= this.task.id) continue;
        size += taskSize(one, WHOLE);
        if (size > LIMITS.historyBytesMax && earlier.length > 0) return toConversation(earlier);
        earlier.push(one);
      }
      seen += page.tasks.length;
      pageToken = page.nextPageToken;
      if (pageToken === "" || seen >= HISTORY_TASKS_MAX) return toConversation(earlier);
      // Each page may be large, and some stores read it in one go.
      await new Promise(resolve => void setImmediate(resolve));
    }
  }

  #listContext(pageSize: number, pageToken: string): Promise<Page> {
    const { contextId, agent } = this.task;
    const filter = { contextId, pageSize, ...(pageToken !== "" && { pageToken }) };
    return this.#parts.store.tasks.list(this.#run.scope, agent, filter);
  }
}

/** Lines of a run tell which one it is. */
export function runLog(log: Log, { task, attempt }: Run): Log {
  const { id: taskId, agent, trace } = task;
  const traceId = trace?.traceparent.split("-")[1];
  return withFacts(log, { taskId, agent, attempt, ...(traceId !== undefined && { traceId }) });
}

function messageOf(task: Task): Message {
  // A snapshot that an older server made does not tell which message it is.
  const said = task.message ?? task.history.findLast(message => message.role === "user");
  if (!said) throw new Error("a run without a message");
  return said;
}

const WHOLE = { artifacts: true } as const;

const toConversation = (tasks: Task[]): readonly Message[] =>
  tasks.sort((a, b) => (a.id < b.id ? -1 : 1)).flatMap(told);

/** A task as a conversation: what was said, and what the agent made of it. */
function told(task: Task): readonly Message[] {
  const made = task.artifacts.flatMap(artifact => artifact.parts);
  const { contextId, id: taskId } = task;
  const result: Message[] =
    made.length > 0
      ? [{ messageId: `${task.id}-result`, role: "agent", parts: made, contextId, taskId }]
      : [];
  return [...task.history, ...(task.status.message ? [task.status.message] : []), ...result];
}
