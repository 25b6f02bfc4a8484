/** A task of a test server: what its caller got, and what the log has about it. */
import type { AgentUpdate } from "../client/dedupe.ts";
import { type AgentQuestion, questionsOf } from "../client/questions.ts";
import type { RemoteState } from "../client/types.ts";
import type { Json } from "../lib/json.ts";
import {
  type Artifact,
  isSettled,
  type Message,
  type RecordedEvent,
  type StepRecord,
  textOf,
  type Usage,
} from "../model/index.ts";
import type { CallerConnection, Received, TestContent, TestSendOptions } from "./caller.ts";
import { textIn } from "./caller.ts";
import { type Cassette, toCassette } from "./cassette.ts";

/** What a task needs from its server. */
export interface TaskAccess {
  readonly connection: CallerConnection;
  /** All committed events of a task. */
  readEvents(taskId: string): readonly RecordedEvent[];
  /** Resolves after the next commit to a task. */
  nextCommit(taskId: string): Promise<void>;
}

/** One event of a stream; `text`: the text of the chunk or of the message. */
export type TestEvent = AgentUpdate & { readonly text: string };

/** A task as its caller saw it when it was read last; the log is read when it is asked for. */
export class TestTask {
  /** Empty: the agent replied with a message instead of a task. */
  readonly id: string;
  readonly contextId: string;
  /** "completed", "input-required", "failed", … */
  readonly state: RemoteState;
  /** All text that the agent wrote. */
  readonly text: string;
  /** The text of the status: a question, progress, or the reason of a failure. */
  readonly statusText: string;
  /** What the task asks; several after `ctx.askAll`, each with its id. Empty: it does not wait for input. */
  readonly questions: readonly AgentQuestion[];
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Message[];
  readonly #access: TaskAccess;

  constructor(access: TaskAccess, received: Received) {
    const { task, reply } = received;
    this.#access = access;
    this.id = task?.id ?? "";
    this.contextId = task?.contextId ?? reply?.contextId ?? "";
    this.state = task?.state ?? "completed";
    this.text = textIn(received);
    this.statusText = textOf(task?.message?.parts ?? []);
    this.questions = task ? questionsOf(task) : [];
    this.artifacts = task?.artifacts ?? [];
    this.history = task?.history ?? [];
  }

  /** The first data part that the agent wrote. */
  get data(): Json | undefined {
    return this.artifacts.flatMap(one => one.parts).find(part => part.kind === "data")?.data;
  }

  /** The recorded steps of all turns, in the order in which they ended. */
  get steps(): readonly StepRecord[] {
    return this.log.flatMap(({ event }) => (event.type === "noted" ? [event.note] : []));
  }

  /** How often a run of this task began: one for each turn, and one more for each crash. */
  get attempts(): number {
    return this.log.filter(({ event }) => event.type === "started").length;
  }

  /** The sums of `ctx.usage`. */
  get usage(): Usage {
    const sums: Record<string, number> = {};
    for (const { event } of this.log)
      if (event.type === "usage")
        for (const [name, count] of Object.entries(event.usage)) sums[name] = (sums[name] ?? 0) + count;
    return sums as Usage;
  }

  /** Why the agent failed: what it threw, which callers are not told. */
  get error(): string | undefined {
    const errors = this.log.flatMap(({ event }) => (event.type === "status" && event.error) || []);
    return errors.at(-1)?.message;
  }

  /** Everything that is recorded about the task. */
  get log(): readonly RecordedEvent[] {
    return this.#access.readEvents(this.id);
  }

  /** The answers that the task got from models, tools, other agents and steps, to be played back. */
  get cassette(): Cassette {
    return toCassette(this.log);
  }

  /** Answers the question of the task, and waits until it is settled again. */
  async answer(content: TestContent): Promise<TestTask> {
    return new TestTask(this.#access, await this.#access.connection.send(content, this.#reference));
  }

  /** The same, as a stream. */
  streamAnswer(content: TestContent): AsyncGenerator<TestEvent> {
    return toTestEvents(this.#access.connection.stream(content, this.#reference));
  }

  async cancel(): Promise<TestTask> {
    const task = await this.#access.connection.cancel(this.id, this.contextId);
    return new TestTask(this.#access, { task, reply: undefined });
  }

  /** The task as it is now. */
  async read(): Promise<TestTask> {
    const task = await this.#access.connection.get(this.id, this.contextId);
    return new TestTask(this.#access, { task, reply: undefined });
  }

  /** Waits until the task ends or waits for its caller. */
  settled(): Promise<TestTask> {
    return this.until(({ state }) => state !== "unknown" && isSettled(state));
  }

  /** Waits until the task is as wanted; it is read again after every commit. */
  async until(isWanted: (task: TestTask) => boolean): Promise<TestTask> {
    for (;;) {
      const changed = this.#access.nextCommit(this.id);
      const task = await this.read();
      if (isWanted(task)) return task;
      await changed;
    }
  }

  get #reference(): TestSendOptions {
    return { taskId: this.id, contextId: this.contextId };
  }
}

export async function* toTestEvents(updates: AsyncIterable<AgentUpdate>): AsyncGenerator<TestEvent> {
  for await (const update of updates) {
    const parts = update.kind === "artifact" ? update.artifact.parts : (update.message?.parts ?? []);
    yield { ...update, text: textOf(parts) };
  }
}
