import { type Signal, signal } from "@preact/signals";
import type { ContextDetail, ContextTask, TaskRow } from "../../../src/admin/api.ts";
import { cancelTask, newId, sendMessage } from "../../lib/a2a.ts";
import { findAgent, readAdmin, segment } from "../../lib/admin.ts";
import { ApiError, isNetworkError, reasonOf, untilAccess } from "../../lib/api.ts";
import { type Change, onChange } from "../../lib/feed.ts";
import { type LiveTask, openTask } from "../../lib/live-task.ts";
import { pause } from "../../lib/sse.ts";
import { isTerminal, isWaiting } from "../../lib/states.ts";
import { toast } from "../../lib/toast.ts";
import type { V1Message, V1Part, V1Task } from "../../lib/v1.ts";

import { isMine } from "../../parts/question.tsx";
import { addToOutbox, type Pending, readOutbox, removeFromOutbox } from "./outbox.ts";

export interface PendingSend extends Pending {
  readonly problem: Signal<string>;
  readonly isRefused: Signal<boolean>;
}

const RETRY_MS = [300, 800, 1500, 3000, 5000] as const;
const REPLAYED_TASKS_MAX = 50;

/** One conversation: the tasks of a context with an agent, and the messages that are on their way. */
export class Conversation {
  readonly agent: string;
  readonly contextId: Signal<string>;
  readonly tasks = signal<readonly LiveTask[]>([]);
  readonly sending = signal<readonly PendingSend[]>([]);
  readonly isLoading = signal(true);
  readonly problem = signal("");
  readonly olderToken = signal("");
  readonly #abort = new AbortController();
  readonly #stopFeed: () => void;
  readonly #onContext: (contextId: string) => void;

  constructor(agent: string, contextId: string, onContext: (contextId: string) => void) {
    this.agent = agent;
    this.contextId = signal(contextId);
    this.#onContext = onContext;
    this.#stopFeed = onChange(change => this.#onChange(change));
    void this.#load();
    for (const pending of readOutbox())
      if (pending.agent === agent && pending.contextId === contextId) void this.#deliver(pending);
  }

  close(): void {
    this.#abort.abort();
    this.#stopFeed();
    for (const task of this.tasks.value) task.close();
  }

  async #load(): Promise<void> {
    const contextId = this.contextId.peek();
    if (contextId === "") {
      this.isLoading.value = false;
      return;
    }
    try {
      const found: ContextTask[] = [];
      let pageToken = "";
      do {
        const page = await readAdmin<ContextDetail>(
          `contexts/${segment(contextId)}`,
          { agent: this.agent, pageSize: "100", pageToken },
          this.#abort.signal,
        );
        found.push(...page.tasks);
        pageToken = page.nextPageToken;
      } while (pageToken !== "" && found.length < 500);
      for (const one of found.slice(-REPLAYED_TASKS_MAX)) this.#add(one.row, one);
      this.problem.value = "";
    } catch (error) {
      if (!this.#abort.signal.aborted && !(error instanceof ApiError && error.status === 401))
        this.problem.value = reasonOf(error);
    }
    this.isLoading.value = false;
  }

  reload(): void {
    this.isLoading.value = true;
    void this.#load();
  }

  #add(row: TaskRow, found?: ContextTask): void {
    const known = this.tasks.peek().find(one => one.id === row.id);
    if (known) {
      known.row.value = row;
      return;
    }
    const snapshot = found?.task
      ? { task: found.task as unknown as V1Task, reply: found.reply as unknown as V1Message | null }
      : undefined;
    const next = [...this.tasks.peek(), openTask(row, snapshot)];
    this.tasks.value = next.sort((one, other) => one.row.peek().createdAt - other.row.peek().createdAt);
  }

  #onChange(change: Change): void {
    if (change.kind === "reload") void this.#load();
    else if (
      change.kind === "task" &&
      change.row.agent === this.agent &&
      change.row.contextId === this.contextId.peek()
    )
      this.#add(change.row);
    else if (change.kind === "gone" && this.tasks.peek().some(one => one.id === change.id))
      this.tasks.value = this.tasks.peek().filter(one => one.id !== change.id);
  }

  /** The caller of these tasks, if it is another one: an operator reads its conversation, and cannot continue it. */
  otherCaller(): string | undefined {
    const row = this.tasks.value[0]?.row.value;
    return row && !isMine(row) ? row.principal : undefined;
  }

  /** The task that a message answers: the newest one, if it waits for the caller. */
  waitingTask(): LiveTask | undefined {
    const last = this.tasks.value.at(-1);
    return last && last.version.value >= 0 && isWaiting(last.log.state) ? last : undefined;
  }

  runningTask(): LiveTask | undefined {
    return this.tasks.value.findLast(task => {
      return task.version.value >= 0 && !isTerminal(task.log.state) && !isWaiting(task.log.state);
    });
  }

  /** `skillId`: the skill that the data is for. */
  send(parts: readonly V1Part[], taskId?: string, skillId?: string): void {
    // The caller may choose the id of a context: so the address is known before the server responds.
    if (this.contextId.peek() === "") this.#enter(newId());
    const contextId = this.contextId.peek();
    const message: V1Message = {
      messageId: newId(),
      role: "ROLE_USER",
      parts,
      contextId,
      ...(taskId && { taskId }),
      ...(skillId && { metadata: { skillId } }),
    };
    const streaming = findAgent(this.agent)?.streaming ?? true;
    const pending: Pending = {
      key: newId(),
      agent: this.agent,
      contextId,
      message,
      streaming,
      at: Date.now(),
    };
    addToOutbox(pending);
    void this.#deliver(pending);
  }

  /** Sends until the server has the message: a lost connection or a stopped server only delays it. */
  async #deliver(pending: Pending): Promise<void> {
    const sending: PendingSend = { ...pending, problem: signal(""), isRefused: signal(false) };
    this.sending.value = [...this.sending.peek(), sending];
    for (let failures = 0; !this.#abort.signal.aborted; failures += 1) {
      try {
        const answer = await sendMessage({ ...pending, signal: this.#abort.signal });
        await this.#accepted(answer.task?.contextId ?? answer.message?.contextId ?? pending.contextId);
        removeFromOutbox(pending.key);
        this.#drop(pending.key);
        return;
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        const isRefused =
          !isNetworkError(error) && error instanceof ApiError && error.status < 500 && error.status !== 429;
        sending.problem.value = reasonOf(error);
        if (isRefused && error.status !== 401) {
          sending.isRefused.value = true;
          removeFromOutbox(pending.key);
          return;
        }
        if (isRefused) await untilAccess(this.#abort.signal);
      }
      await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 5000, this.#abort.signal);
    }
  }

  #drop(key: string): void {
    this.sending.value = this.sending.peek().filter(one => one.key !== key);
  }

  discard(key: string): void {
    removeFromOutbox(key);
    this.#drop(key);
  }

  /** The message is recorded: shows its task before the pending one is removed, so that nothing flickers. */
  async #accepted(contextId: string): Promise<void> {
    if (contextId !== this.contextId.peek()) this.#enter(contextId);
    await this.#load();
  }

  #enter(contextId: string): void {
    this.contextId.value = contextId;
    // A user who has left the conversation stays where they are.
    if (!this.#abort.signal.aborted) this.#onContext(contextId);
  }

  async cancel(task: LiveTask): Promise<void> {
    try {
      task.log.isCanceling = true;
      task.version.value += 1;
      await cancelTask(this.agent, task.id);
    } catch (error) {
      task.log.isCanceling = false;
      task.version.value += 1;
      toast(`The task was not canceled: ${reasonOf(error)}`, { isError: true });
    }
  }
}
