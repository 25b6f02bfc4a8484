import type { LoopBudget } from "../../lib/loop-budget.ts";
import {
  applyAll,
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type Task,
  type TaskId,
  timeKey,
} from "../../model/index.ts";
import type { Log } from "../../ports/index.ts";
import { LogStep } from "../kernel/log-step.ts";
import { unpackEvents } from "../kernel/packed-events.ts";
import { createPageCache } from "../kernel/page-cache.ts";
import { createBatcher } from "./batcher.ts";
import type { Queryable, Statement } from "./database.ts";
import type { OwnerIds } from "./owners.ts";
import { appendRead, type CachedTask, stepsAfter, type TaskCache } from "./task-cache.ts";

export interface TaskReaderParts {
  readonly db: Queryable;
  /** Keeps plans. */
  readonly updates: Queryable;
  readonly loop: LoopBudget;
  readonly owners: OwnerIds;
  readonly cache: TaskCache;
  readonly log: Log;
}

interface TaskRow {
  readonly key: number;
  readonly id: TaskId;
  readonly owner: number;
  readonly seq: number;
  readonly snapshot_seq: number;
  readonly since: number;
}
interface SegmentRow {
  readonly last: number;
  readonly events: string;
}
interface SnapshotRow {
  readonly key: number;
  readonly snapshot: string;
  readonly seq: number;
}
/** A task with one new segment of its log: one row for each segment, or one row with nulls. */
type UpdateRow = TaskRow & (SegmentRow | { readonly last: null; readonly events: null });

/** A task with its event "started", if that is known. */
export interface StartedTask {
  readonly id: TaskId;
  readonly attempt: number;
  readonly seq?: number;
  readonly at?: number;
}

type ReadResult = { readonly cached: CachedTask } | { readonly error: unknown };

/** Segments of a log that are read in one query. */
const PAGE_ROWS_MAX = 500;
const PAGE_BYTES_MAX = 256 * 1024;
const CHECKPOINTS_MAX = 1_000;
/** Tasks that are read in one query, and how many such queries run at the same time. */
const BATCH_MAX = 500;
const CONCURRENCY_MAX = 4;
/** Larger than any sequence number: no segments are read. */
const NO_SEGMENTS = 2 ** 31 - 1;

/**
 * Tasks, each with its segments after a sequence number. One statement, so that all rows are of one snapshot. `OFFSET` keeps the
 * planner from joining all segments of a task, and comparing the numbers afterwards.
 */
export const UPDATES: Statement = {
  name: "read_updates",
  text:
    "SELECT t.key, t.id, t.owner, t.seq, t.snapshot_seq, t.since, s.last, s.events " +
    "FROM unnest($1::uuid[], $2::int[]) AS k(id, seq) JOIN task t ON t.id = k.id LEFT JOIN LATERAL (" +
    "SELECT last, events FROM segment WHERE task = t.key AND last > greatest(k.seq, t.since) ORDER BY last OFFSET 0" +
    ") AS s ON true ORDER BY t.key, s.last",
};
const SNAPSHOTS =
  "SELECT key, snapshot, snapshot_seq AS seq FROM task WHERE key = ANY($1) AND snapshot IS NOT NULL";
const SEGMENTS =
  "SELECT s.task, s.last, s.events FROM unnest($1::bigint[], $2::int[]) AS k(key, seq) " +
  "JOIN segment s ON s.task = k.key AND s.last > k.seq ORDER BY s.task, s.last";
/** The bytes that a read of each task would load. `seq`: the cached sequence number; -1: the task is not cached. */
const SIZES =
  "SELECT t.id, (CASE WHEN k.seq < 0 THEN coalesce(octet_length(t.snapshot), 0) ELSE 0 END + coalesce((" +
  "SELECT sum(octet_length(s.events)) FROM segment s WHERE s.task = t.key " +
  "AND s.last > CASE WHEN k.seq < 0 THEN t.snapshot_seq ELSE k.seq END), 0))::bigint AS bytes " +
  "FROM unnest($1::uuid[], $2::int[]) AS k(id, seq) JOIN task t ON t.id = k.id";
/** Segments of a log, up to `$4` bytes; the first one is always included. */
const PAGE = `SELECT last, events FROM (
  SELECT last, events, sum(octet_length(events)) OVER (ORDER BY last) - octet_length(events) AS before FROM (
    SELECT last, events FROM segment WHERE task = $1 AND last > $2 ORDER BY last LIMIT $3) AS rows
) AS sums WHERE before < $4 ORDER BY last`;

/** Reads tasks and logs, from the cache of this node where possible. */
export class TaskReader {
  readonly #parts: TaskReaderParts;
  readonly #pages: ReturnType<typeof createPageCache>;
  readonly #readTask: (taskId: TaskId) => Promise<ReadResult | undefined>;

  constructor(parts: TaskReaderParts) {
    this.#parts = parts;
    this.#pages = createPageCache({ loop: parts.loop, checkpointsMax: CHECKPOINTS_MAX });
    this.#readTask = createBatcher({
      load: taskIds => this.#readBatch(taskIds),
      batchMax: BATCH_MAX,
      concurrencyMax: CONCURRENCY_MAX,
    });
  }

  /** null: the task does not exist in this scope. `fresh`: read the database even if the cache is valid. */
  async find(scope: Scope, taskId: TaskId, fresh: boolean): Promise<CachedTask | null> {
    const cached = this.#parts.cache.find(taskId);
    const found = cached && !cached.isStale && !fresh ? cached : await this.#findInDatabase(taskId);
    return found && found.scope.tenant === scope.tenant && found.scope.principal === scope.principal
      ? found
      : null;
  }

  async #findInDatabase(taskId: TaskId): Promise<CachedTask | null> {
    // An id that no server can have created does not exist; Postgres would reject it, because it may not be a UUID.
    if (timeKey(taskId) === null) return null;
    const found = await this.#readTask(taskId);
    if (found && "error" in found) throw found.error;
    return found?.cached ?? null;
  }

  /** The bytes that reading these tasks would load. */
  async readSizes(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, number>> {
    if (taskIds.length === 0) return new Map();
    const seqs = taskIds.map(taskId => this.#parts.cache.find(taskId)?.seq ?? -1);
    const rows = await this.#parts.db.query<{ id: TaskId; bytes: number }>(SIZES, [taskIds, seqs]);
    return new Map(rows.map(({ id, bytes }) => [id, bytes]));
  }

  /** The tasks of runs that have just been recorded as started: where nothing came in between, they are not read again. */
  async readStarted(started: readonly StartedTask[]): Promise<ReadonlyMap<TaskId, CachedTask>> {
    const known = new Map<TaskId, CachedTask>();
    for (const { id, attempt, seq, at } of started) {
      const cached = this.#parts.cache.find(id);
      if (at === undefined || cached?.seq !== (seq as number) - 1) continue;
      appendRead(cached, [{ seq: seq as Seq, at, event: { type: "started", attempt } }]);
      known.set(id, cached);
    }
    const others = started.map(({ id }) => id).filter(id => !known.has(id));
    return others.length === 0 ? known : new Map([...known, ...(await this.readAll(others))]);
  }

  /** Reads from the database. A task that cannot be decoded is logged and left out, so that the others are returned. */
  async readAll(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, CachedTask>> {
    const results = await Promise.all(taskIds.map(taskId => this.#readTask(taskId)));
    const tasks = new Map<TaskId, CachedTask>();
    for (const [i, result] of results.entries()) {
      const taskId = taskIds[i] as TaskId;
      if (result && "cached" in result) tasks.set(taskId, result.cached);
      else if (result)
        this.#parts.log.error(
          { taskId, err: result.error },
          "the stored data of a task cannot be read; the task is left out",
        );
    }
    return tasks;
  }

  async #readBatch(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, ReadResult>> {
    const { updates: db, cache, owners } = this.#parts;
    const watch = cache.watch(taskIds);
    try {
      const before = new Map(taskIds.map(taskId => [taskId, cache.find(taskId)]));
      const rows = await db.query<UpdateRow>(UPDATES, [
        taskIds,
        taskIds.map(taskId => before.get(taskId)?.seq ?? NO_SEGMENTS),
      ]);
      await owners.load(rows.map(row => row.owner));
      const results = new Map<TaskId, ReadResult>();
      const missing: TaskRow[] = [];
      const byTask = Map.groupBy(rows, row => row.id);
      for (const [taskId, updates] of byTask) {
        const cached = before.get(taskId);
        const [row] = updates as [UpdateRow];
        if (!cached || cached.seq < row.since) missing.push(row);
        else
          results.set(
            taskId,
            toResult(() => this.#update(cached, row, updates)),
          );
      }
      for (const [taskId, result] of await this.#readMissing(missing)) results.set(taskId, result);
      for (const [taskId, result] of results)
        if ("cached" in result) {
          const { cached } = result;
          cached.isStale = cached.seq < (byTask.get(taskId)?.[0]?.seq ?? 0) || watch.isInvalidated(taskId);
        }
      return results;
    } finally {
      watch.end();
    }
  }

  #update(cached: CachedTask, row: TaskRow, updates: readonly UpdateRow[]): CachedTask {
    let bytes = 0;
    for (const { last, events } of updates) {
      if (last === null) continue;
      appendRead(cached, unpackEvents(events, last));
      bytes += events.length;
    }
    Object.assign(cached, { compactedSeq: row.since, snapshotSeq: row.snapshot_seq });
    this.#parts.cache.put(cached, bytes);
    return cached;
  }

  /** Reads tasks that are not cached: their snapshots, and the segments after these. */
  async #readMissing(rows: readonly TaskRow[]): Promise<ReadonlyMap<TaskId, ReadResult>> {
    if (rows.length === 0) return new Map();
    const { db } = this.#parts;
    const keys = rows.map(row => row.key);
    const hasSnapshots = rows.some(row => row.snapshot_seq > 0);
    const snapshots = hasSnapshots ? await db.query<SnapshotRow>(SNAPSHOTS, [keys]) : [];
    const byKey = new Map(snapshots.map(snapshot => [snapshot.key, snapshot]));
    const segments = Map.groupBy(
      await db.query<SegmentRow & { readonly task: number }>(SEGMENTS, [
        keys,
        keys.map(key => byKey.get(key)?.seq ?? 0),
      ]),
      segment => segment.task,
    );
    return new Map(
      rows.map(row => [
        row.id,
        toResult(() => this.#create(row, byKey.get(row.key), segments.get(row.key) ?? [])),
      ]),
    );
  }

  #create(row: TaskRow, snapshot: SnapshotRow | undefined, segments: readonly SegmentRow[]): CachedTask {
    const { cache, owners } = this.#parts;
    const base = snapshot ? (JSON.parse(snapshot.snapshot) as Task) : null;
    const events = segments.flatMap(segment => unpackEvents(segment.events, segment.last));
    const created: CachedTask = {
      taskId: row.id,
      key: row.key,
      scope: owners.scopeOf(row.owner),
      task: applyAll(base, events) as Task,
      seq: events.at(-1)?.seq ?? snapshot?.seq ?? 0,
      compactedSeq: row.since > 0 ? (snapshot?.seq ?? 0) : 0,
      snapshotSeq: snapshot?.seq ?? 0,
      steps: [],
      bytes: 0,
      isStale: false,
    };
    // A concurrent read or write may have cached the task meanwhile, possibly with newer events.
    const cached = cache.find(row.id);
    if (cached && cached.seq >= created.seq && cached.compactedSeq >= created.compactedSeq) return cached;
    const bytes = segments.reduce(
      (sum, segment) => sum + segment.events.length,
      snapshot?.snapshot.length ?? 0,
    );
    cache.put(created, bytes);
    return created;
  }

  /** Steps after `after`; of a log that was compacted beyond it, one step with the final task. */
  async read(cached: CachedTask, after: Seq, max: number): Promise<readonly Step[]> {
    if (after < cached.compactedSeq) {
      const snapshot = await this.#readSnapshot(cached.key);
      return [snapshotOf(snapshot?.task ?? cached.task, (snapshot?.seq ?? cached.seq) as Seq)];
    }
    return (
      stepsAfter(cached, after, max) ??
      this.#pages.read(cached.taskId, after, max, (...range) => this.#readSteps(cached, ...range))
    );
  }

  async #readSnapshot(key: number): Promise<{ readonly task: Task; readonly seq: number } | null> {
    const [row] = await this.#parts.db.query<SnapshotRow>(SNAPSHOTS, [[key]]);
    return row ? { task: JSON.parse(row.snapshot) as Task, seq: row.seq } : null;
  }

  /** See `ReadSteps`. */
  async #readSteps(cached: CachedTask, after: Seq, max: number, base: Task | null): Promise<readonly Step[]> {
    const start = base ? { task: base, seq: after as number } : await this.#findStart(cached, after);
    let before: LogStep | Task | null = start.task;
    const steps: Step[] = [];
    for (const row of await this.#parts.db.query<SegmentRow>(PAGE, [
      cached.key,
      start.seq,
      PAGE_ROWS_MAX,
      PAGE_BYTES_MAX,
    ]))
      for (const { seq, at, event } of unpackEvents(row.events, row.last)) {
        // The start may be inside a segment: the base already includes the events before it.
        if (seq <= start.seq || steps.length === max) continue;
        before = new LogStep(seq, at, event, before, null);
        steps.push(before);
      }
    return steps;
  }

  /** Where events can be applied from: the snapshot, unless it is later than the position that is wanted. */
  async #findStart(cached: CachedTask, after: Seq): Promise<{ task: Task | null; seq: number }> {
    const isUseful = cached.snapshotSeq > 0 && cached.snapshotSeq <= after;
    const snapshot = isUseful ? await this.#readSnapshot(cached.key) : null;
    return snapshot && snapshot.seq <= after ? snapshot : { task: null, seq: 0 };
  }
}

function toResult(read: () => CachedTask): ReadResult {
  try {
    return { cached: read() };
  } catch (error) {
    return { error };
  }
}
