import type { LoopBudget } from "../../lib/loop-budget.ts";
import {
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type Task,
  type TaskId,
  timeKey,
} from "../../model/index.ts";
import type { Log } from "../../ports/index.ts";
import { HotStep } from "../kernel/log-step.ts";
import { unpack } from "../kernel/unpack.ts";
import { createPages } from "../single-node/pages.ts";
import { createGather } from "./batch-reads.ts";
import type { Asker } from "./database.ts";
import type { Owners } from "./owners.ts";
import { extend, fold, type Known, type Memory, stepsAfter } from "./task-cache.ts";

export interface ReaderParts {
  readonly db: Asker;
  readonly loop: LoopBudget;
  readonly owners: Owners;
  readonly memory: Memory;
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
/** A task, and what is new in its log: one row for each of these, or one without. */
type LookRow = TaskRow & (SegmentRow | { readonly last: null; readonly events: null });

/** What was found of a task, or why it cannot be read. */
type Found = { readonly known: Known } | { readonly error: unknown };

/** Rows of a log that are read at once. */
const ROWS_MAX = 500;
/** Bytes of them: then the next ones are read. */
const ROWS_BYTES_MAX = 256 * 1024;
/** Places where readers stopped, with the task as it stood there. */
const PLACES_MAX = 1_000;
/** Tasks that are looked at together, and how many times at once. */
const LOOK_MAX = 500;
const LOOKS_MAX = 4;
/** More than any log has: nothing new is wanted. */
const NOTHING_NEW = 2 ** 31 - 1;

/** In one statement, which sees one moment. */
const LOOK =
  "SELECT t.key, t.id, t.owner, t.seq, t.snapshot_seq, t.since, s.last, s.events " +
  "FROM unnest($1::uuid[], $2::int[]) AS k(id, seq) JOIN task t ON t.id = k.id " +
  "LEFT JOIN segment s ON s.task = t.key AND s.last > greatest(k.seq, t.since) ORDER BY t.key, s.last";
const SNAPSHOTS =
  "SELECT key, snapshot, snapshot_seq AS seq FROM task WHERE key = ANY($1) AND snapshot IS NOT NULL";
const SEGMENTS =
  "SELECT s.task, s.last, s.events FROM unnest($1::bigint[], $2::int[]) AS k(key, seq) " +
  "JOIN segment s ON s.task = k.key AND s.last > k.seq ORDER BY s.task, s.last";
/** What a look would read of each task, without reading it. `seq`: what is known of it; -1: nothing. */
const BYTES =
  "SELECT t.id, (CASE WHEN k.seq < 0 THEN coalesce(octet_length(t.snapshot), 0) ELSE 0 END + coalesce((" +
  "SELECT sum(octet_length(s.events)) FROM segment s WHERE s.task = t.key " +
  "AND s.last > CASE WHEN k.seq < 0 THEN t.snapshot_seq ELSE k.seq END), 0))::bigint AS bytes " +
  "FROM unnest($1::uuid[], $2::int[]) AS k(id, seq) JOIN task t ON t.id = k.id";
/** Rows of a log, until they have `$4` bytes; the first one is always among them. */
const PAGE = `SELECT last, events FROM (
  SELECT last, events, sum(octet_length(events)) OVER (ORDER BY last) - octet_length(events) AS before FROM (
    SELECT last, events FROM segment WHERE task = $1 AND last > $2 ORDER BY last LIMIT $3) AS rows
) AS sums WHERE before < $4 ORDER BY last`;

/** Reads tasks and logs, from what this node knows as far as that will do. */
export class Reader {
  readonly #parts: ReaderParts;
  readonly #pages: ReturnType<typeof createPages>;
  readonly #look: (taskId: TaskId) => Promise<Found | undefined>;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#pages = createPages({ loop: parts.loop, placesMax: PLACES_MAX });
    this.#look = createGather({
      ask: taskIds => this.#learn(taskIds),
      keysMax: LOOK_MAX,
      atOnceMax: LOOKS_MAX,
    });
  }

  /** null: it is not there for this scope. `fresh`: what is known is not good enough. */
  async find(scope: Scope, taskId: TaskId, fresh: boolean): Promise<Known | null> {
    const known = this.#parts.memory.find(taskId);
    const found = known && !known.stale && !fresh ? known : await this.#see(taskId);
    return found && found.scope.tenant === scope.tenant && found.scope.principal === scope.principal
      ? found
      : null;
  }

  async #see(taskId: TaskId): Promise<Known | null> {
    // What this kind of server cannot have minted is not there; Postgres would not take it for an id at all.
    if (timeKey(taskId) === null) return null;
    const found = await this.#look(taskId);
    if (found && "error" in found) throw found.error;
    return found?.known ?? null;
  }

  /** Bytes that have to be read to know these tasks as they stand. */
  async bytesOf(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, number>> {
    if (taskIds.length === 0) return new Map();
    const seqs = taskIds.map(taskId => this.#parts.memory.find(taskId)?.seq ?? -1);
    const rows = await this.#parts.db.query<{ id: TaskId; bytes: number }>(BYTES, [taskIds, seqs]);
    return new Map(rows.map(({ id, bytes }) => [id, bytes]));
  }

  /** As they stand. One that cannot be read must not spoil the others: it is left out. */
  async findAll(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, Known>> {
    const found = await Promise.all(taskIds.map(taskId => this.#look(taskId)));
    const known = new Map<TaskId, Known>();
    for (const [i, one] of found.entries()) {
      const taskId = taskIds[i] as TaskId;
      if (one && "known" in one) known.set(taskId, one.known);
      else if (one)
        this.#parts.log.error(
          { taskId, err: one.error },
          "what is recorded of a task cannot be read; it is left out",
        );
    }
    return known;
  }

  async #learn(taskIds: readonly TaskId[]): Promise<ReadonlyMap<TaskId, Found>> {
    const { db, memory, owners } = this.#parts;
    const watch = memory.watch(taskIds);
    try {
      const before = new Map(taskIds.map(taskId => [taskId, memory.find(taskId)]));
      const rows = await db.query<LookRow>(LOOK, [
        taskIds,
        taskIds.map(taskId => before.get(taskId)?.seq ?? NOTHING_NEW),
      ]);
      await owners.learn(rows.map(row => row.owner));
      const found = new Map<TaskId, Found>();
      const unknown: TaskRow[] = [];
      const byTask = Map.groupBy(rows, row => row.id);
      for (const [taskId, news] of byTask) {
        const known = before.get(taskId);
        const [row] = news as [LookRow];
        if (!known || known.seq < row.since) unknown.push(row);
        else
          found.set(
            taskId,
            orError(() => this.#goOn(known, row, news)),
          );
      }
      for (const [taskId, one] of await this.#begin(unknown)) found.set(taskId, one);
      for (const [taskId, one] of found)
        if ("known" in one)
          one.known.stale = one.known.seq < (byTask.get(taskId)?.[0]?.seq ?? 0) || watch.isDoubted(taskId);
      return found;
    } finally {
      watch.end();
    }
  }

  /** What is known, with what is new. */
  #goOn(known: Known, row: TaskRow, news: readonly LookRow[]): Known {
    let bytes = 0;
    for (const one of news) {
      if (one.last === null) continue;
      extend(known, unpack(one.events, one.last));
      bytes += one.events.length;
    }
    Object.assign(known, { since: row.since, snapshotSeq: row.snapshot_seq });
    this.#parts.memory.keep(known, bytes);
    return known;
  }

  /** Tasks that this node does not know: from their snapshots, and what came after these. */
  async #begin(rows: readonly TaskRow[]): Promise<ReadonlyMap<TaskId, Found>> {
    if (rows.length === 0) return new Map();
    const { db } = this.#parts;
    const keys = rows.map(row => row.key);
    const hasSnapshots = rows.some(row => row.snapshot_seq > 0);
    const snapshots = hasSnapshots
      ? await db.query<{ key: number; snapshot: string; seq: number }>(SNAPSHOTS, [keys])
      : [];
    const byKey = new Map(snapshots.map(one => [one.key, one]));
    const segments = Map.groupBy(
      await db.query<SegmentRow & { readonly task: number }>(SEGMENTS, [
        keys,
        keys.map(key => byKey.get(key)?.seq ?? 0),
      ]),
      one => one.task,
    );
    return new Map(
      rows.map(row => [
        row.id,
        orError(() => this.#make(row, byKey.get(row.key), segments.get(row.key) ?? [])),
      ]),
    );
  }

  #make(
    row: TaskRow,
    snapshot: { readonly snapshot: string; readonly seq: number } | undefined,
    segments: readonly SegmentRow[],
  ): Known {
    const { memory, owners } = this.#parts;
    const base = snapshot ? (JSON.parse(snapshot.snapshot) as Task) : null;
    const events = segments.flatMap(({ events, last }) => unpack(events, last));
    const made: Known = {
      taskId: row.id,
      key: row.key,
      scope: owners.scopeOf(row.owner),
      task: fold(base, events),
      seq: events.at(-1)?.seq ?? snapshot?.seq ?? 0,
      since: row.since > 0 ? (snapshot?.seq ?? 0) : 0,
      snapshotSeq: snapshot?.seq ?? 0,
      steps: [],
      bytes: 0,
      stale: false,
    };
    // Somebody else may have been quicker, and may have written since: then that counts.
    const there = memory.find(row.id);
    if (there && there.seq >= made.seq && there.since >= made.since) return there;
    const bytes = segments.reduce((sum, one) => sum + one.events.length, snapshot?.snapshot.length ?? 0);
    memory.keep(made, bytes);
    return made;
  }

  #rowsAfter(key: number, after: number): Promise<readonly SegmentRow[]> {
    return this.#parts.db.query<SegmentRow>(PAGE, [key, after, ROWS_MAX, ROWS_BYTES_MAX]);
  }

  /** Steps after a place; of a log that was compacted beyond it, the task as it ended. */
  async read(known: Known, after: Seq, max: number): Promise<readonly Step[]> {
    if (after < known.since) return [await this.#compacted(known)];
    const there = stepsAfter(known, after, max);
    return there ?? this.#pages.read(known.taskId, after, max, (...how) => this.#readSteps(known, ...how));
  }

  async #snapshot(key: number): Promise<{ readonly task: Task; readonly seq: number } | null> {
    const [row] = await this.#parts.db.query<{ snapshot: string; seq: number }>(SNAPSHOTS, [[key]]);
    return row ? { task: JSON.parse(row.snapshot) as Task, seq: row.seq } : null;
  }

  async #compacted(known: Known): Promise<Step> {
    const snapshot = await this.#snapshot(known.key);
    return snapshotOf(snapshot?.task ?? known.task, (snapshot?.seq ?? known.seq) as Seq);
  }

  /** See `ReadSteps`. */
  async #readSteps(known: Known, after: Seq, max: number, base: Task | null): Promise<readonly Step[]> {
    const start = base ? { task: base, seq: after as number } : await this.#startFor(known, after);
    let before: HotStep | Task | null = start.task;
    const steps: Step[] = [];
    for (const row of await this.#rowsAfter(known.key, start.seq))
      for (const { seq, at, event } of unpack(row.events, row.last)) {
        // A place inside a row: what comes before it in that row is already in the base.
        if (seq <= start.seq || steps.length === max) continue;
        before = new HotStep(seq, at, event, before, null);
        steps.push(before);
      }
    return steps;
  }

  /** Where a log can be folded from: the snapshot, unless it is later than the place that is wanted. */
  async #startFor(known: Known, after: Seq): Promise<{ task: Task | null; seq: number }> {
    const isUseful = known.snapshotSeq > 0 && known.snapshotSeq <= after;
    const snapshot = isUseful ? await this.#snapshot(known.key) : null;
    return snapshot && snapshot.seq <= after ? snapshot : { task: null, seq: 0 };
  }
}

function orError(read: () => Known): Found {
  try {
    return { known: read() };
  } catch (error) {
    return { error };
  }
}
