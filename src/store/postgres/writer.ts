import { type AgentName, Fault, isTerminal, LIMITS, type TaskId, taskNotFound } from "../../model/index.ts";
import type { EventLog, Log, Run } from "../../ports/index.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { AppendQueue } from "./append-queue.ts";
import { commit, hasWaitingTask, type WriteResult } from "./commit.ts";
import type { Database } from "./database.ts";
import { isDatabaseDown, sqlStateOf } from "./database-error.ts";
import { type NewRuns, STARTED } from "./new-runs.ts";
import type { OwnerIds } from "./owners.ts";
import type { TaskReader } from "./reader.ts";
import { END_LEASES } from "./run-sql.ts";
import { appendWritten, type CachedTask, type TaskCache } from "./task-cache.ts";
import {
  type AppendRequest,
  changedConcurrently,
  needsLock,
  type PendingWrite,
  runOf,
  taskAfter,
  toPendingWrite,
  toWriteSet,
  type WriteSet,
} from "./write-set.ts";

export interface LogWriterParts
  extends Pick<
    StoreParts,
    "now" | "wallTime" | "leaseMs" | "onCommitted" | "onDue" | "onPushDue" | "runQuota" | "commits"
  > {
  readonly db: Database;
  /** For commits. */
  readonly writes: Database;
  readonly owners: OwnerIds;
  readonly cache: TaskCache;
  readonly reader: TaskReader;
  readonly newRuns: NewRuns;
  readonly onCreated: (taskId: TaskId) => void;
  readonly log: Log;
}

/** Commits under way at once: Postgres begins with the second one while this process answers the appends of the first. */
const COMMITS_MAX = 2;
/** The least size of the second one, and as a share of the first: small commits cost more for each append. */
const SECOND_MIN = 4;
const SECOND_SHARE = 0.5;

/**
 * Appends events to logs. All appends that arrive during a commit form the next commit. There are no locks in between: an
 * append names the event that it follows, and if another writer was faster, it is retried before all appends that were
 * requested later. After one refused append of a run all its later ones are refused.
 */
export class LogWriter {
  readonly #parts: LogWriterParts;
  readonly #queue = new AppendQueue();
  /** The batches that are being written. */
  readonly #writing = new Set<{ readonly size: number; readonly written: Promise<void> }>();
  #isScheduled = false;
  /** Runs that had an append refused. */
  readonly #fenced = new WeakSet<Run>();
  /** Statements after a commit that no append waits for. */
  readonly #followUps = new Set<Promise<void>>();
  #isClosed = false;

  constructor(parts: LogWriterParts) {
    this.#parts = parts;
  }

  readonly append: EventLog["append"] = (scope, taskId, events, condition, extras) => {
    if (this.#isClosed) return Promise.reject(new Fault("unavailable", "The store is closed"));
    const joined = this.#queue.joinText(events, condition);
    if (joined) return joined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // A caller that does not wait must not cause an unhandled rejection.
    promise.catch(() => {});
    const { newRuns } = this.#parts;
    const begins = extras ? undefined : newRuns.take(scope, events, condition);
    const added = begins ? [...events, STARTED] : [...events];
    const push = extras?.push;
    const request = { scope, taskId, events: added, condition, push, begins, resolve, reject, retries: 0 };
    this.#queue.push(request, added, promise);
    this.#schedule();
    if (begins) newRuns.start(begins, promise);
    return promise;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#isScheduled || this.#writing.size > 0) {
      if (this.#isScheduled) await new Promise(resolve => void setImmediate(resolve));
      await Promise.all([...this.#writing].map(({ written }) => written));
    }
    await Promise.all(this.#followUps);
  }

  /** All appends of one turn of the event loop share a commit. */
  #schedule(): void {
    if (this.#isScheduled || this.#writing.size >= COMMITS_MAX) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#writeNext();
    });
  }

  #writeNext(): void {
    while (this.#queue.size > 0 && this.#writing.size < COMMITS_MAX) {
      const [other] = this.#writing;
      const batch = this.#queue.take(other ? Math.max(SECOND_MIN, SECOND_SHARE * other.size) : 1);
      if (batch.length === 0) return;
      const writing = { size: batch.length, written: this.#write(batch) };
      this.#writing.add(writing);
      void writing.written.then(() => {
        this.#writing.delete(writing);
        this.#queue.release(batch);
        this.#writeNext();
      });
    }
  }

  /** Never rejects: errors reject the appends that they concern. */
  async #write(batch: readonly AppendRequest[]): Promise<void> {
    const byTask = Map.groupBy(batch, request => request.taskId);
    const prepared = await Promise.all([...byTask.values()].map(requests => this.#prepare(requests)));
    const ready = prepared.filter(write => write !== null && write.requests.length > 0) as PendingWrite[];
    // Appends that require a free context are committed one by one, under a lock.
    const [locked = [], plain = []] = [true, false].map(is =>
      ready.filter(write => write.requests.some(needsLock) === is),
    );
    if (plain.length > 0) await this.#commit(plain);
    for (const write of locked) await this.#commit([write]);
  }

  /** Rejects the appends to one task that do not fit. null: none of them can be written. */
  async #prepare(requests: readonly AppendRequest[]): Promise<PendingWrite | null> {
    const [first] = requests as readonly [AppendRequest];
    const { reader, now } = this.#parts;
    try {
      const isNew = first.events[0]?.type === "created" && first.retries === 0;
      const cached = isNew ? null : await reader.find(first.scope, first.taskId, first.retries > 0);
      if (!isNew && !cached) throw taskNotFound(first.taskId);
      const seq = cached?.seq;
      let { pending, refused } = toPendingWrite(requests, cached, now(), this.#fenced);
      // A refusal may be due to an outdated cache: check again with a fresh read.
      if (refused.length > 0 && cached) {
        const fresh = await reader.find(first.scope, first.taskId, true);
        if (fresh && fresh.seq !== seq)
          ({ pending, refused } = toPendingWrite(requests, fresh, now(), this.#fenced));
      }
      for (const { request, fault } of refused) this.#reject([request], fault);
      return pending;
    } catch (error) {
      this.#reject(requests, error);
      this.#endLeases(requests);
      return null;
    }
  }

  async #commit(writes: readonly PendingWrite[]): Promise<void> {
    const { cache, writes: db, owners, wallTime, leaseMs, commits } = this.#parts;
    const watch = cache.watch(writes.map(({ taskId }) => taskId));
    try {
      const writeSets = await Promise.all(
        writes.map(async write =>
          toWriteSet(write, await owners.getOrCreate(write.scope, taskAfter(write).agent as AgentName)),
        ),
      );
      const onCommit = commits?.startCommit();
      const results = await commit(db, writeSets, { wallTime, leaseMs });
      const written = writeSets.filter(({ pending }) => results.has(pending.taskId));
      onCommit?.(
        written.length,
        written.reduce((count, { steps }) => count + steps.length, 0),
      );
      for (const writeSet of writeSets) {
        const { taskId, requests } = writeSet.pending;
        const result = results.get(taskId);
        if (result) this.#update(writeSet, result, watch.isInvalidated(taskId));
        else {
          cache.invalidate(taskId);
          this.#retry(requests);
        }
      }
      // Answers take time: the next commit is sent first, so that Postgres works meanwhile.
      process.nextTick(() => this.#announce(written, results));
    } catch (error) {
      await this.#handleFailure(writes, error);
    } finally {
      watch.end();
    }
  }

  async #handleFailure(writes: readonly PendingWrite[], error: unknown): Promise<void> {
    const isRefusal = error instanceof Fault && error.code !== "unavailable";
    // The database works, but something in this commit cannot be written.
    const isOfOneWrite = isRefusal || !(error instanceof Fault);
    if (writes.length > 1 && (isOfOneWrite || !isDatabaseDown(error))) {
      // Commit separately, so that a write that fails does not fail the others.
      for (const write of writes) await this.#commit([write]);
      return;
    }
    const requests = writes.flatMap(write => write.requests);
    if (requests.length > 1 && isOfOneWrite) return this.#writeInHalves(requests);
    if (isRefusal) return this.#reject(requests, error);
    if (sqlStateOf(error) === UNIQUE_VIOLATION) {
      const { taskId } = writes[0] as PendingWrite;
      return this.#reject(requests, new Fault("conflict", "The name is already in use", { taskId }));
    }
    this.#parts.commits?.onFailure();
    this.#parts.newRuns.pause();
    this.#parts.log.error({ err: error }, "a commit failed");
    this.#reject(requests, new Fault("unavailable", OUTCOME_UNKNOWN, {}, error));
    this.#invalidate(writes);
    this.#endLeases(requests);
  }

  /** Finds the append to a task that is refused, so that the others are written; their order stays. */
  async #writeInHalves(requests: readonly AppendRequest[]): Promise<void> {
    const half = Math.ceil(requests.length / 2);
    this.#queue.putBack(requests.slice(half));
    await this.#write(requests.slice(0, half));
  }

  /** The commit may have happened although its response was lost: readers, runners and push workers check again. */
  #invalidate(writes: readonly PendingWrite[]): void {
    const { cache, onCommitted, onDue, onPushDue } = this.#parts;
    for (const { taskId } of writes) {
      cache.invalidate(taskId);
      onCommitted(taskId);
    }
    onDue();
    onPushDue();
  }

  #reject(requests: readonly AppendRequest[], error: unknown): void {
    for (const request of requests) {
      const run = runOf(request);
      if (run) this.#fenced.add(run);
      request.reject(error);
    }
  }

  /** Makes runs that cannot go on here due again, as after a crash. If this fails, they are due when their leases expire. */
  #endLeases(requests: readonly AppendRequest[]): void {
    const { db, onDue } = this.#parts;
    const runs = [...new Set(requests.map(runOf))].filter(run => run !== undefined);
    if (runs.length === 0) return;
    const ended = db
      .query(END_LEASES, [
        runs.map(run => run.task.id),
        runs.map(run => run.worker),
        runs.map(run => run.attempt),
      ])
      .then(onDue, () => {})
      .finally(() => this.#followUps.delete(ended));
    this.#followUps.add(ended);
  }

  /** Updates the cache. `isInvalidated`: other nodes may have written to the task since. */
  #update(
    { pending, task, steps, events, snapshot }: WriteSet,
    { key }: WriteResult,
    isInvalidated: boolean,
  ): void {
    const { cache } = this.#parts;
    const { taskId, scope } = pending;
    const created = { compactedSeq: 0, seq: 0, snapshotSeq: 0, steps: [], bytes: 0, isStale: isInvalidated };
    const cached: CachedTask = cache.find(taskId) ??
      // Evicted during the commit: writes of other nodes were not marked on it meanwhile.
      (pending.cached && { ...pending.cached, bytes: 0, isStale: true }) ?? {
        ...created,
        taskId,
        key,
        scope,
        task,
      };
    appendWritten(cached, steps);
    if (snapshot !== null) cached.snapshotSeq = pending.tail.seq;
    cache.put(cached, events.length);
  }

  /** Another writer was faster: these appends are retried before all that were requested after them. */
  #retry(requests: readonly AppendRequest[]): void {
    for (const request of requests) request.retries += 1;
    const exhausted = requests.filter(request => request.retries > LIMITS.conflictTriesMax);
    for (const request of exhausted) this.#reject([request], changedConcurrently(request.taskId));
    this.#endLeases(exhausted);
    this.#queue.putBack(requests.filter(request => !exhausted.includes(request)));
  }

  /** Resolves the appends, and notifies readers. */
  #announce(written: readonly WriteSet[], results: ReadonlyMap<TaskId, WriteResult>): void {
    for (const { pending } of written) for (const { resolve } of pending.requests) resolve();
    const { cache, runQuota, onCreated, onCommitted, onDue, onPushDue } = this.#parts;
    cache.evictEnded(written.filter(({ task }) => isTerminal(task.status.state)).map(({ task }) => task.id));
    for (const { pending } of written) (pending.cached ? onCommitted : onCreated)(pending.taskId);
    const isDue = ({ hasNewRevision, task }: WriteSet): boolean =>
      hasNewRevision && task.status.state === "submitted";
    const freesQuota = ({ endsLease, pending }: WriteSet): boolean =>
      endsLease && Object.values(runQuota(pending.scope)).some(Number.isFinite);
    if (written.some(writeSet => isDue(writeSet) || freesQuota(writeSet))) onDue();
    else this.#notifyIfWaiting(written.filter(mayFreeContext));
    const hasPush = ({ pending }: WriteSet): boolean =>
      pending.pushes.length > 0 || (results.get(pending.taskId)?.hasPush ?? false);
    if (written.some(hasPush)) onPushDue();
  }

  /** Notifies if another task waits in a context whose run has ended. */
  #notifyIfWaiting(writeSets: readonly WriteSet[]): void {
    const checked = hasWaitingTask(this.#parts.db, writeSets)
      // If the query fails, notify anyway: a due task must not be missed.
      .catch(() => true)
      .then(isWaiting => {
        if (isWaiting) this.#parts.onDue();
        this.#followUps.delete(checked);
      });
    this.#followUps.add(checked);
  }
}

/** No task waits in the context of a task that did not exist before this commit. */
const mayFreeContext = ({ endsLease, task, pending }: WriteSet): boolean =>
  endsLease && !task.alone && pending.cached !== null;

const UNIQUE_VIOLATION = "23505";
const OUTCOME_UNKNOWN =
  "The store cannot write now, and may not have recorded this; try again, with the same key if there is one";
