import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { toScope } from "../../src/auth/scope.ts";
import { isDeepEqual, type JsonObject } from "../../src/lib/json.ts";
import {
  type AgentName,
  apply,
  type ContextId,
  type Credential,
  type Message,
  type Part,
  type Seq,
  type StepKey,
  type StepRecord,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../src/model/index.ts";
import type { AgentEvent, AuthorizationOptions, ContextStorage, Log, Turn } from "../../src/ports/index.ts";
import { functionRuntime } from "../../src/runtime/function/index.ts";
import { createMemoryStorage } from "../../src/store/memory/storage.ts";
import { encodeStorageValue } from "../../src/store/kernel/storage-value.ts";

const CONTEXT = "context-1" as ContextId;
const TASK = "task-1" as TaskId;

/** The storage of one context. */
function createTestStorage(): ContextStorage {
  const shelves = createMemoryStorage();
  const place = { scope: toScope("default", "anonymous"), agent: "tested" as AgentName, area: CONTEXT };
  return {
    get: async key => shelves.list(place, { prefix: key, max: 1 }).find(one => one.key === key)?.value,
    list: async range => shelves.list(place, range),
    put: async changes =>
      shelves.write({ area: place, changes: changes.map(one => ({ key: one.key, text: encodeStorageValue(one) })) }),
  };
}

/** A task that is folded from events, as in the server, and run turn by turn without one. */
export class Conversation {
  readonly logged: { readonly facts: object; readonly text: string }[] = [];
  readonly abort = new AbortController();
  earlier: readonly Message[] = [];
  /** What runs have put on record; later attempts of the turn find it again. */
  notes: StepRecord[] = [];
  /** What the agent has put away. */
  readonly storage: ContextStorage;
  /** What the caller has given, and how it can be given, by name. */
  credentials: Readonly<Record<string, Credential>> = {};
  ways: Readonly<Record<string, AuthorizationOptions>> = {};
  caller: Turn["caller"] = { tenant: "default", principal: "anonymous" };
  /** The clock; chance follows from it. */
  now = 1_000;
  #task: Task | null = null;
  #seq = 0;
  #ids = 0;

  /** `storage`: shared with another task of the same context. */
  constructor(storage: ContextStorage = createTestStorage()) {
    this.storage = storage;
  }

  /** A caller's message: begins a turn. */
  said(content: string | readonly Part[], metadata?: Task["metadata"]): this {
    const parts: readonly Part[] = typeof content === "string" ? [{ kind: "text", text: content }] : content;
    const created = { id: TASK, contextId: CONTEXT, agent: "tested" as AgentName, origin: "v1", shown: true };
    if (this.#task === null) this.#record({ type: "created", ...created, ...(metadata && { metadata }) });
    this.#record({ type: "message", message: { messageId: `user-${this.#seq}`, role: "user", parts } });
    this.notes = [];
    return this;
  }

  /** Answers to questions that have ids: begins a turn, too. */
  answered(answers: JsonObject): this {
    this.#record({ type: "message", message: toMessage(`user-${this.#seq}`, "see the answers"), answers });
    this.notes = [];
    return this;
  }

  get task(): Task {
    return this.#task as Task;
  }

  /** A message that comes while a turn is worked on. */
  incoming(text: string): this {
    this.#record({ type: "incoming", message: toMessage(`user-${this.#seq}`, text) });
    return this;
  }

  turn(): Turn {
    this.#record({ type: "started", attempt: this.task.attempt + 1 });
    const known = [...this.notes];
    const write = (facts: object, text: string) => void this.logged.push({ facts, text });
    const log: Log = { debug: write, info: write, warn: write, error: write };
    return {
      task: this.task,
      message: this.task.message as Message,
      attempt: this.task.attempt - this.task.attemptsBefore,
      signal: this.abort.signal,
      log,
      history: async () => this.earlier,
      incoming: asyncOf(this.task.incoming ?? []),
      findStep: async place => known.find(note => isDeepEqual(toPlace(note), place)) ?? null,
      recordStep: async note => {
        this.notes.push(note);
        this.#record({ type: "noted", note });
      },
      storage: this.storage,
      caller: this.caller,
      credentials: async name => this.credentials[name],
      authorizationOptions: ({ name }) => this.ways[name] ?? {},
      trace: this.task.trace,
      outbound: { guarded: fetch, trusted: fetch },
      tools: async name => {
        throw new Error(`there is no server ${name}`);
      },
      newId: () => `id-${++this.#ids}`,
      now: () => this.now,
      random: () => (this.now % 1_000) / 1_000,
    };
  }

  /** Runs one turn to its end; what the agent said is folded into the task. */
  async run(definition: AgentDefinition): Promise<readonly AgentEvent[]> {
    const events: AgentEvent[] = [];
    for await (const event of functionRuntime(definition).run(this.turn())) {
      events.push(event);
      this.#record(event);
    }
    return events;
  }

  #record(event: TaskEvent): void {
    this.#seq += 1;
    this.#task = apply(this.#task, { seq: this.#seq as Seq, at: this.#seq, event });
  }
}

const toMessage = (messageId: string, text: string): Message => ({
  messageId,
  role: "user",
  parts: [{ kind: "text", text }],
});

const toPlace = ({ kind, name, nth }: StepRecord): StepKey => ({ kind, name, nth });

async function* asyncOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** What an agent with this function says to a text. */
export const saidBy = (
  run: AgentDefinition["run"],
  text = "hi",
  more: Partial<AgentDefinition> = {},
): Promise<readonly AgentEvent[]> =>
  new Conversation().said(text).run(agent({ name: "tested", ...more, run }));
