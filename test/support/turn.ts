import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { toScope } from "../../src/auth/scope.ts";
import { createItems, type ItemsParts } from "../../src/items/index.ts";
import { isDeepEqual, type JsonObject } from "../../src/lib/json.ts";
import { systemTimers, waitFor } from "../../src/lib/timers.ts";
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
import type {
  AgentEvent,
  AuthorizationOptions,
  CallerItems,
  ContextStorage,
  Log,
  Turn,
} from "../../src/ports/index.ts";
import { functionRuntime } from "../../src/runtime/function/index.ts";
import { encodeStorageValue } from "../../src/store/kernel/storage-value.ts";
import { createMemoryBackend } from "../../src/store/memory/backend.ts";
import { createMemoryStorage } from "../../src/store/memory/storage.ts";
import { createSingleNodeItems } from "../../src/store/single-node/items.ts";
import type { BatchWriter } from "../../src/store/single-node/writer.ts";

const CONTEXT = "context-1" as ContextId;
const TASK = "task-1" as TaskId;

/** The storage of one context. */
function createTestStorage(): ContextStorage {
  const store = createMemoryStorage();
  const area = { scope: toScope("default", "anonymous"), agent: "tested" as AgentName, area: CONTEXT };
  return {
    get: async key => store.list(area, { prefix: key, max: 1 }).find(one => one.key === key)?.value,
    list: async range => store.list(area, range),
    put: async changes =>
      store.write({ area, changes: changes.map(one => ({ key: one.key, text: encodeStorageValue(one) })) }),
  };
}

/** Long-term memory whose writes happen at once. */
export function createTestItems(more: Partial<ItemsParts> = {}): CallerItems {
  const writer = { write: async (part: () => void) => part() } as BatchWriter;
  const store = createSingleNodeItems({ backend: createMemoryBackend(), writer, wallTime: () => 1_000 });
  const parts = { store, embed: undefined, fields: ["$"], ttlMs: undefined, refreshOnRead: true };
  return createItems({ ...parts, ...more })(toScope("default", "anonymous"));
}

/** A task that is folded from events, as in the server, and run turn by turn without a server. */
export class Conversation {
  readonly logged: { readonly facts: object; readonly text: string }[] = [];
  readonly abort = new AbortController();
  earlier: readonly Message[] = [];
  /** The results that runs have recorded; later attempts of the turn find them. */
  steps: StepRecord[] = [];
  /** The values that the agent has stored. */
  readonly storage: ContextStorage;
  /** The long-term memory of the caller. */
  readonly items: CallerItems = createTestItems();
  /** The credentials of the caller, and how they can be given, by name. */
  credentials: Readonly<Record<string, Credential>> = {};
  authorizationOptions: Readonly<Record<string, AuthorizationOptions>> = {};
  caller: Turn["caller"] = { tenant: "default", principal: "anonymous" };
  /** The clock; random numbers are derived from it. */
  now = 1_000;
  #task: Task | null = null;
  #seq = 0;
  #ids = 0;

  /** `storage`: shared with another task of the same context. */
  constructor(storage: ContextStorage = createTestStorage()) {
    this.storage = storage;
  }

  /** A caller's message: begins a turn. */
  addMessage(content: string | readonly Part[], metadata?: Task["metadata"]): this {
    const parts: readonly Part[] = typeof content === "string" ? [{ kind: "text", text: content }] : content;
    const created = { id: TASK, contextId: CONTEXT, agent: "tested" as AgentName, origin: "v1", shown: true };
    if (this.#task === null) this.#record({ type: "created", ...created, ...(metadata && { metadata }) });
    this.#record({ type: "message", message: { messageId: `user-${this.#seq}`, role: "user", parts } });
    this.steps = [];
    return this;
  }

  /** Answers to questions with ids: begins a turn, too. */
  addAnswers(answers: JsonObject): this {
    this.#record({ type: "message", message: toMessage(`user-${this.#seq}`, "see the answers"), answers });
    this.steps = [];
    return this;
  }

  get task(): Task {
    return this.#task as Task;
  }

  /** A message that arrives during a turn. */
  addIncoming(text: string): this {
    this.#record({ type: "incoming", message: toMessage(`user-${this.#seq}`, text) });
    return this;
  }

  turn(): Turn {
    this.#record({ type: "started", attempt: this.task.attempt + 1 });
    const known = [...this.steps];
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
      findStep: async key => known.find(step => isDeepEqual(toKey(step), key)) ?? null,
      recordStep: async note => {
        this.steps.push(note);
        this.#record({ type: "noted", note });
      },
      storage: this.storage,
      items: this.items,
      caller: this.caller,
      credentials: async name => this.credentials[name],
      authorizationOptions: ({ name }) => this.authorizationOptions[name] ?? {},
      trace: this.task.trace,
      outbound: { guarded: fetch, trusted: fetch },
      agents: {
        send: async name => {
          throw new Error(`there is no agent ${name}`);
        },
        read: () => asyncOf([]),
        cancel: async () => {},
      },
      tools: async name => {
        throw new Error(`there is no server ${name}`);
      },
      newId: () => `id-${++this.#ids}`,
      now: () => this.now,
      wait: (ms, signal) => waitFor(systemTimers, ms, signal),
      random: () => (this.now % 1_000) / 1_000,
    };
  }

  /** Runs one turn to its end; the output of the agent is folded into the task. */
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

const toKey = ({ kind, name, nth }: StepRecord): StepKey => ({ kind, name, nth });

async function* asyncOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** The output of an agent with this function for a text. */
export const outputOf = (
  run: AgentDefinition["run"],
  text = "hi",
  more: Partial<AgentDefinition> = {},
): Promise<readonly AgentEvent[]> =>
  new Conversation().addMessage(text).run(agent({ name: "tested", ...more, run }));
