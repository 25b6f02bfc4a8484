/** A conversation with an agent as a store: without React, so that it can be tested and used without a page. */
import {
  type AgentQuestion,
  type Artifact,
  type ConnectedAgent,
  type ConnectOptions,
  connect,
  type Message,
  type MessageContent,
  questionsOf,
  type RemoteState,
  type RemoteTask,
  type TaskUpdate,
  toParts,
  UnavailableError,
} from "../client/index.ts";
import { newId } from "../client/new-id.ts";
import { type Memory, openMemory, type Unsent } from "./memory.ts";
import { isMoving, toMessages, toWaiting } from "./transcript.ts";

export interface ConversationOptions extends ConnectOptions {
  /** The key under which the conversation is stored in this tab, to be resumed after a reload; null: nowhere. Default: the URL. */
  readonly storageKey?: string | null | undefined;
  /** Shows this task, and no conversation. */
  readonly taskId?: string | undefined;
}

/** What a page shows. A new object with each change. */
export interface ConversationState {
  /** undefined: the card is not read yet. */
  readonly agent: ConnectedAgent | undefined;
  /** Everything that was said, the oldest first. The artifacts of a task are messages of the agent. */
  readonly messages: readonly Message[];
  /** Of the last task. */
  readonly artifacts: readonly Artifact[];
  /** Of the last task; "ready": there is none yet. */
  readonly state: RemoteState | "ready";
  /** What the last task asks; `answer` answers it. */
  readonly questions: readonly AgentQuestion[];
  /** The last message of the agent about its progress. */
  readonly progress: Message | undefined;
  /** The last task is being worked on, or its connection is being restored. */
  readonly isWorking: boolean;
  readonly task: RemoteTask | undefined;
  /** Why the last call failed. */
  readonly error: Error | undefined;
}

/** A page waits longer than a program: two minutes for a server that restarts. */
const RETRY_DELAYS_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000, ...Array<number>(15).fill(8_000)];

export class ConversationStore {
  readonly #to: string | ConnectedAgent;
  readonly #options: ConversationOptions;
  readonly #listeners = new Set<() => void>();
  readonly #memory: Memory;
  #stopped = new AbortController();
  #agent: Promise<ConnectedAgent> | undefined;
  #connected: ConnectedAgent | undefined;
  #tasks: readonly RemoteTask[] = [];
  #isStopping = false;
  #error: Error | undefined;
  #state: ConversationState;

  constructor(to: string | ConnectedAgent, options: ConversationOptions = {}) {
    this.#to = to;
    this.#options = options;
    const { storageKey = typeof to === "string" ? to : to.endpoint.url, taskId } = options;
    this.#memory = openMemory(taskId === undefined ? storageKey : null);
    this.#state = this.#toState();
  }

  /** The first listener connects, the last one disconnects. */
  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.#listeners.size === 0) this.#start();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  };

  readonly getState = (): ConversationState => this.#state;

  /** Sends a message: a new task of this conversation. Resolves when the task has ended, or asks. */
  readonly send = (content: MessageContent): Promise<void> => this.#send(content, undefined);

  /** Answers the question of the last task; `answers` of `dragoman/client` answers several by their ids. */
  readonly answer = (content: MessageContent): Promise<void> => this.#send(content, this.#tasks.at(-1));

  /** Cancels the last task, as soon as the server has given it an id. */
  readonly stop = async (): Promise<void> => {
    const task = this.#tasks.at(-1);
    this.#isStopping = task?.id === "";
    if (task && !this.#isStopping) await this.#attempt(() => this.#cancel(task));
  };

  /** Begins a new conversation. */
  readonly reset = (): void => {
    this.#stop();
    this.#memory.write({ tasks: [] });
    this.#tasks = [];
    if (this.#listeners.size > 0) this.#start();
  };

  #start(): void {
    this.#stopped = new AbortController();
    this.#error = undefined;
    this.#change();
    void this.#attempt(() => this.#resume());
  }

  #stop(): void {
    this.#stopped.abort();
    if (typeof this.#to === "string") this.#connected?.close();
    this.#agent = undefined;
    this.#connected = undefined;
  }

  #connect(): Promise<ConnectedAgent> {
    const { signal } = this.#stopped;
    this.#agent ??=
      typeof this.#to === "string"
        ? connect(this.#to, { retryDelaysMs: RETRY_DELAYS_MS, ...this.#options, signal })
        : Promise.resolve(this.#to);
    return this.#agent.then(agent => {
      if (signal.aborted) agent.close();
      else if (this.#connected !== agent) {
        this.#connected = agent;
        this.#change();
      }
      return agent;
    });
  }

  /** Reads the tasks of an earlier visit, and continues the last one. */
  async #resume(): Promise<void> {
    const { signal } = this.#stopped;
    const agent = await this.#connect();
    const { taskId } = this.#options;
    if (taskId !== undefined) return this.#read(agent.task(taskId).tail({ until: "terminal", signal }));
    const { tasks, unsent } = this.#memory.read();
    const found = await Promise.all(
      tasks.map(({ id, contextId }) =>
        agent
          .task(id, contextId)
          .get({ signal })
          .catch(() => undefined),
      ),
    );
    signal.throwIfAborted();
    if (this.#tasks.length === 0) this.#tasks = found.filter(task => task !== undefined);
    this.#change();
    const last = this.#tasks.at(-1);
    if (unsent) {
      this.#put(
        toWaiting(
          this.#tasks.find(({ id }) => id === unsent.taskId),
          unsent,
        ),
      );
      // With the same id the server processes the message once.
      await this.#stream(agent, unsent);
    } else if (last && isMoving(last.state))
      await this.#read(agent.task(last.id, last.contextId).tail({ signal }));
  }

  async #send(content: MessageContent, task: RemoteTask | undefined): Promise<void> {
    const { signal } = this.#stopped;
    this.#isStopping = false;
    const contextId = (task ?? this.#tasks.at(-1))?.contextId;
    const ids = { ...(task?.id && { taskId: task.id }), ...(contextId && { contextId }) };
    const unsent = { messageId: newId(), parts: await toParts(content), ...ids };
    this.#memory.write({ ...this.#memory.read(), unsent });
    await this.#attempt(async () => {
      this.#put(toWaiting(task, unsent));
      const agent = await this.#connect();
      signal.throwIfAborted();
      await this.#stream(agent, unsent);
    });
  }

  #stream(agent: ConnectedAgent, { parts, ...ids }: Unsent): Promise<void> {
    return this.#read(agent.stream(parts, { ...ids, signal: this.#stopped.signal }));
  }

  async #read(updates: AsyncIterable<TaskUpdate>): Promise<void> {
    for await (const { task } of updates) {
      this.#put(task);
      this.#remember();
      if (this.#isStopping && task.id !== "") await this.#cancel(task);
    }
  }

  async #cancel({ id, contextId }: RemoteTask): Promise<void> {
    this.#isStopping = false;
    const agent = await this.#connect();
    this.#put(await agent.task(id, contextId).cancel({ signal: this.#stopped.signal }));
  }

  /** The tasks, and no message that may not have arrived. */
  #remember(): void {
    const named = this.#tasks.filter(({ id }) => id !== "");
    this.#memory.write({ tasks: named.map(({ id, contextId }) => ({ id, contextId })) });
  }

  /** Adds the task, or replaces it: until it has an id, by its first message. */
  #put(task: RemoteTask): void {
    const isSame = (one: RemoteTask): boolean =>
      one.id === ""
        ? task.history.some(({ messageId }) => messageId === one.history[0]?.messageId)
        : one.id === task.id;
    const at = this.#tasks.findLastIndex(isSame);
    this.#tasks = at < 0 ? [...this.#tasks, task] : this.#tasks.with(at, task);
    this.#change();
  }

  /** Errors are part of the state; an abort is none. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    try {
      this.#error = undefined;
      await work();
    } catch (error) {
      if (signal.aborted) return;
      this.#error = error instanceof Error ? error : new Error(String(error));
      // The next call reads the card again, if it was not read.
      this.#agent = this.#connected && this.#agent;
      if (!(error instanceof UnavailableError)) this.#remember();
      this.#change();
    }
  }

  #change(): void {
    this.#state = this.#toState();
    for (const listener of this.#listeners) listener();
  }

  #toState(): ConversationState {
    const task = this.#tasks.at(-1);
    return {
      agent: this.#connected,
      messages: this.#tasks.flatMap(toMessages),
      artifacts: task?.artifacts ?? [],
      state: task?.state ?? "ready",
      questions: task ? questionsOf(task) : [],
      progress: task && isMoving(task.state) ? task.message : undefined,
      isWorking: task !== undefined && isMoving(task.state) && !this.#error,
      task,
      error: this.#error,
    };
  }
}
