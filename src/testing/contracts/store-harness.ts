import { toScope } from "../../auth/scope.ts";
import { LoopBudget } from "../../lib/loop-budget.ts";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  createIdGenerator,
  Fault,
  type Scope,
  type Seq,
  type Step,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import type { Run, Store } from "../../ports/index.ts";
import { createEnvironment } from "../../server/clock.ts";
import type { StoreParts } from "../../store/kernel/store-parts.ts";

export interface StoreUnderTest {
  /** Opens a store; after a close, a second one has the data of the first if `isPersistent`. */
  open(parts: StoreParts): Store;
  readonly isPersistent: boolean;
  /** Several nodes share it: leases of a closed node expire later. */
  readonly isShared?: true;
  /** Resolves when the store that was opened last is ready. */
  ready?(): Promise<void>;
  /** Makes commits fail, or succeed again; absent: this store never fails. */
  setFull?(full: boolean): void;
  remove(): void;
}

export const ECHO = "echo" as AgentName;
export const AGENTS = new Set([ECHO]);
export const alice = toScope("acme", "alice");
export const bob = toScope("acme", "bob");

/** The code of the fault that rejects the promise, or "accepted". */
export async function faultCode(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "accepted";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

export const userMessage = (text: string, more: object = {}): TaskEvent => ({
  type: "message",
  message: { messageId: text, role: "user", parts: [{ kind: "text", text }] },
  ...more,
});
export const chunk = (text: string): TaskEvent => ({
  type: "artifact",
  artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
  append: true,
  last: false,
  join: true,
});
export const status = (state: "completed" | "failed" | "input-required" | "working"): TaskEvent => ({
  type: "status",
  state,
});

/** Steps as plain values: the task of a step in memory is a getter. */
export const toPlain = (steps: readonly Step[]): object[] =>
  steps.map(({ seq, at, taskId, contextId, event, task }) => ({ seq, at, taskId, contextId, event, task }));

/** How a new task differs from the default. */
export interface TaskOverrides {
  readonly scope?: Scope;
  readonly contextId?: ContextId;
  readonly created?: object;
  readonly message?: object;
  readonly free?: boolean;
}

/** A store with the operations that tests need; `store` is the one that was opened last. */
export class StoreHarness {
  readonly under: StoreUnderTest;
  store!: Store;
  now = Date.UTC(2026, 0, 1);
  /** How far the clock was set back. */
  setBackMs = 0;
  #last = 0;
  readonly committed: TaskId[] = [];
  readonly newId = createIdGenerator({ now: () => this.now, randomHex: createEnvironment().randomHex });

  get wallTime(): number {
    return this.now - this.setBackMs;
  }

  constructor(under: StoreUnderTest) {
    this.under = under;
  }

  start(more: Partial<StoreParts> = {}): Store {
    this.store = this.under.open({
      now: () => (this.#last = Math.max(this.#last, this.wallTime)),
      wallTime: () => this.wallTime,
      ticks: () => this.now,
      leaseMs: 1_000,
      loop: new LoopBudget(2_048),
      runQuota: () => ({ caller: Infinity, tenant: Infinity }),
      tailEventsMax: 1_024,
      tailCacheTasksMax: 100,
      tailIdleMs: 1_000,
      tailCacheBytesMax: 1_000_000,
      onCommitted: id => void this.committed.push(id),
      onDue: () => {},
      onPushDue: () => {},
      onDamaged: (_taskId, error) => {
        throw error;
      },
      ...more,
    });
    return this.store;
  }

  /** Another node, or a restart, after the leases of the previous one have expired. */
  async reopen(more: Partial<StoreParts> = {}): Promise<void> {
    await this.store.close();
    this.start(more);
    await this.under.ready?.();
    if (this.under.isShared) this.now += 2_000;
  }

  /** If not awaited, it is part of the batch of this turn of the event loop. */
  append(id: TaskId, more: TaskOverrides = {}): Promise<void> {
    const { scope = alice, contextId = this.newId() as ContextId, free = false } = more;
    const created = {
      type: "created",
      id,
      contextId,
      agent: ECHO,
      origin: "v1",
      shown: true,
      ...more.created,
    };
    const events = [created as TaskEvent, userMessage("hi", more.message)];
    return this.store.log.append(scope, id, events, { after: BEGINNING, free });
  }

  async createTask(more: TaskOverrides = {}): Promise<TaskId> {
    const id = this.newId() as TaskId;
    await this.append(id, more);
    return id;
  }

  /** One read may return fewer steps than there are. */
  async readAll(scope: Scope, id: TaskId, after: Seq = BEGINNING): Promise<readonly Step[]> {
    const all: Step[] = [];
    for (let more: readonly Step[]; ; all.push(...more)) {
      more = await this.store.log.read(scope, id, all.at(-1)?.seq ?? after, 2_000);
      if (more.length === 0) return all;
    }
  }

  async claimRun(id?: TaskId): Promise<Run> {
    const runs = await this.store.runs.claim("w", AGENTS, 100);
    const run = id ? runs.find(one => one.task.id === id) : runs[0];
    return run as Run;
  }

  async complete(run: Run): Promise<void> {
    await this.store.log.append(run.scope, run.task.id, [chunk("x"), status("completed")], { run });
  }

  /** A task that was created, run and completed. */
  async completeTask(more: TaskOverrides = {}): Promise<TaskId> {
    const id = await this.createTask(more);
    await this.complete(await this.claimRun(id));
    return id;
  }

  async close(): Promise<void> {
    await this.store.close();
    this.under.remove();
  }
}
