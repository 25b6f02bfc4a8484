import { randomBytes } from "node:crypto";
import { toScope } from "../../src/auth/scope.ts";
import { LoopBudget } from "../../src/lib/loop-budget.ts";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  createMint,
  Fault,
  type Scope,
  type Seq,
  type Step,
  type TaskEvent,
  type TaskId,
} from "../../src/model/index.ts";
import type { Run, Store } from "../../src/ports/index.ts";
import type { HotParts } from "../../src/store/single-node/store.ts";

export interface StoreUnderTest {
  /** Opens a store; a second opening after a close finds what the first one committed, if `lasting`. */
  open(parts: Omit<HotParts, "journal">): Store;
  readonly lasting: boolean;
  /** Several nodes work on it: what one of them holds is not free as soon as that one is gone. */
  readonly shared?: true;
  /** Resolves when the store that was opened last can be asked. */
  ready?(): Promise<void>;
  /** Makes commits fail, or no longer; absent: this store never fails. */
  setFull?(full: boolean): void;
  remove(): void;
}

export const ECHO = "echo" as AgentName;
export const AGENTS = new Set([ECHO]);
export const alice = toScope("acme", "alice");
export const bob = toScope("acme", "bob");

/** The fault that the work ends in. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "accepted";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

export const said = (text: string, more: object = {}): TaskEvent => ({
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
export const status = (state: "completed" | "input-required" | "working"): TaskEvent => ({
  type: "status",
  state,
});

/** Steps as plain values: those in memory fold their task when it is asked for. */
export const plain = (steps: readonly Step[]): object[] =>
  steps.map(({ seq, at, taskId, contextId, event, task }) => ({ seq, at, taskId, contextId, event, task }));

/** How a new task differs from the plainest one. */
export interface NewTask {
  readonly scope?: Scope;
  readonly contextId?: ContextId;
  readonly created?: object;
  readonly message?: object;
  readonly free?: boolean;
}

/** A store and what a test does with it; `store` is the one that was started last. */
export class Stage {
  readonly under: StoreUnderTest;
  store!: Store;
  now = Date.UTC(2026, 0, 1);
  /** How far the system's clock was set back. */
  setBackMs = 0;
  #last = 0;
  readonly committed: TaskId[] = [];
  readonly mint = createMint({ now: () => this.now, randomHex: n => randomBytes(n).toString("hex") });

  get wallTime(): number {
    return this.now - this.setBackMs;
  }

  constructor(under: StoreUnderTest) {
    this.under = under;
  }

  start(more: Partial<HotParts> = {}): Store {
    this.store = this.under.open({
      now: () => (this.#last = Math.max(this.#last, this.wallTime)),
      wallTime: () => this.wallTime,
      ticks: () => this.now,
      leaseMs: 1_000,
      loop: new LoopBudget(2_048),
      runQuota: () => ({ caller: Infinity, tenant: Infinity }),
      hotEventsMax: 1_024,
      hotTasksMax: 100,
      hotQuietMs: 1_000,
      hotBytesMax: 1_000_000,
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

  /** Another node, or another start, that comes when the leases of the one before have run out. */
  async reopen(more: Partial<HotParts> = {}): Promise<void> {
    await this.store.close();
    this.start(more);
    await this.under.ready?.();
    if (this.under.shared) this.now += 2_000;
  }

  /** Not awaited, it is in the batch of this turn of the event loop. */
  append(id: TaskId, more: NewTask = {}): Promise<void> {
    const { scope = alice, contextId = this.mint() as ContextId, free = false } = more;
    const created = {
      type: "created",
      id,
      contextId,
      agent: ECHO,
      origin: "v1",
      shown: true,
      ...more.created,
    };
    const events = [created as TaskEvent, said("hi", more.message)];
    return this.store.log.append(scope, id, events, { after: BEGINNING, free });
  }

  async createTask(more: NewTask = {}): Promise<TaskId> {
    const id = this.mint() as TaskId;
    await this.append(id, more);
    return id;
  }

  /** One read may give fewer steps than there are. */
  async readAll(scope: Scope, id: TaskId, after: Seq = BEGINNING): Promise<readonly Step[]> {
    const all: Step[] = [];
    for (let more: readonly Step[]; ; all.push(...more)) {
      more = await this.store.log.read(scope, id, all.at(-1)?.seq ?? after, 2_000);
      if (more.length === 0) return all;
    }
  }

  async begin(id?: TaskId): Promise<Run> {
    const runs = await this.store.runs.claim("w", AGENTS, 100);
    const run = id ? runs.find(one => one.task.id === id) : runs[0];
    return run as Run;
  }

  async complete(run: Run): Promise<void> {
    await this.store.log.append(run.scope, run.task.id, [chunk("x"), status("completed")], { run });
  }

  /** A task that was created, run and completed. */
  async completeTask(more: NewTask = {}): Promise<TaskId> {
    const id = await this.createTask(more);
    await this.complete(await this.begin(id));
    return id;
  }

  async end(): Promise<void> {
    await this.store.close();
    this.under.remove();
  }
}
