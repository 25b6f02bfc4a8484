import type { DatabaseSync } from "node:sqlite";
import { ChurnMap } from "../../lib/churn-map.ts";
import { joinPacked } from "../kernel/packed-events.ts";

/** Events of one task that one commit or several successive ones added to its log. */
export interface SegmentRow {
  /** null: the row has all events of the task. */
  readonly last: number | null;
  readonly events: string;
}

interface StagedRow extends SegmentRow {
  readonly id: number;
  readonly task: number;
  readonly last: number;
}

/** A longer row fills pages of its own: it becomes a segment at once. */
const ROW_CHARS_MAX = 2 * 1024;
/** The longest segment made of staged rows, if each of them is shorter: readers load whole segments. */
const SEGMENT_CHARS_MAX = 32 * 1024;
/** Staged characters, removed ones included, before the oldest rows become segments. */
const STAGED_CHARS_MAX = 4 * 1024 * 1024;
/** Rows that are removed at once: few enough for one commit, and enough to be worth a statement. */
const REMOVED_ROWS_MIN = 512;

/**
 * The staged rows that are not segments yet, by task, for what reads a store without being its server. Events that were removed
 * from the log of a task (`since`) do not come back.
 */
export function readStaged(db: DatabaseSync): ReadonlyMap<number, readonly StagedRow[]> {
  const rows = db
    .prepare(
      "SELECT staged.* FROM staged JOIN task ON task.key = staged.task WHERE staged.last > " +
        "max(task.since, coalesce((SELECT max(last) FROM segment WHERE segment.task = staged.task), 0)) ORDER BY staged.id",
    )
    .all();
  return Map.groupBy(rows as unknown as readonly StagedRow[], row => row.task);
}

/** Staged rows become segments. To be called first when a store is opened to be written. */
export function mergeStaged(db: DatabaseSync): void {
  if (db.prepare("SELECT 1 FROM staged LIMIT 1").get() === undefined) return;
  const insert = db.prepare("INSERT INTO segment (task, last, rev, events) VALUES (?, ?, NULL, ?)");
  db.exec("BEGIN IMMEDIATE");
  for (const [task, rows] of readStaged(db))
    insert.run(task, (rows.at(-1) as StagedRow).last, joinPacked(rows.map(row => row.events)));
  db.exec("DELETE FROM staged; COMMIT");
}

/** The staged rows of one task. */
interface StagedTask {
  readonly key: number;
  readonly firstId: number;
  /** Characters that all tasks had staged before the first of these rows. */
  readonly start: number;
  readonly rows: string[];
  chars: number;
  last: number;
}

/** The staged rows that are not segments yet, in memory. */
class StagedTasks {
  /** The task with the oldest row first. */
  readonly #tasks = new ChurnMap<number, StagedTask>();
  #nextId: number;
  /** No row in the table is before this one. */
  #firstStored = 0;
  #chars = 0;

  constructor(db: DatabaseSync) {
    this.#nextId = (
      db.prepare("SELECT coalesce(max(id), 0) + 1 AS id FROM staged").get() as { id: number }
    ).id;
    for (const rows of readStaged(db).values()) for (const row of rows) this.#put(row);
  }

  /** Returns the id of the row. */
  add(task: number, last: number, events: string): number {
    const id = this.#nextId++;
    this.#put({ id, task, last, events });
    return id;
  }

  #put(row: StagedRow): void {
    let task = this.#tasks.get(row.task);
    if (!task) {
      task = { key: row.task, firstId: row.id, start: this.#chars, rows: [], chars: 0, last: 0 };
      this.#tasks.set(row.task, task);
    }
    task.rows.push(row.events);
    task.last = row.last;
    task.chars += row.events.length;
    this.#chars += row.events.length;
  }

  find(key: number): StagedTask | undefined {
    return this.#tasks.get(key);
  }

  remove(task: StagedTask): void {
    this.#tasks.delete(task.key);
  }

  get oldest(): StagedTask | undefined {
    return this.#tasks.first();
  }

  /** Characters staged since the first row of the task, removed ones included. */
  charsSince(task: StagedTask): number {
    return this.#chars - task.start;
  }

  /** The first row that is needed. */
  get firstId(): number {
    return this.oldest?.firstId ?? this.#nextId;
  }

  /** Rows in the table that are segments already. */
  get removable(): number {
    return this.firstId - this.#firstStored;
  }

  /** The rows before the first one that is needed are removed. */
  onRemoved(): void {
    this.#firstStored = this.firstId;
  }
}

/**
 * Writes segments. Each active task has pages of its own in `segment`: a commit of a thousand streams would write a thousand
 * pages for a few bytes each. So short rows of running tasks are staged: they are appended to one table, and become one
 * segment later (docs/decisions/0043). Rows with a revision are never staged, and with them the rows before them become a
 * segment: what looks for settled tasks needs `segment` only, and a segment ends where there is a snapshot.
 */
export function createSegmentWriter(db: DatabaseSync) {
  const insertSegment = db.prepare("INSERT INTO segment (task, last, rev, events) VALUES (?, ?, ?, ?)");
  const insertStaged = db.prepare("INSERT INTO staged (id, task, last, events) VALUES (?, ?, ?, ?)");
  const removeStaged = db.prepare("DELETE FROM staged WHERE id < ?");
  /** undefined: to be read from the table. */
  let loaded: StagedTasks | undefined;
  const load = (): StagedTasks => {
    loaded ??= new StagedTasks(db);
    return loaded;
  };
  /** Rows that this transaction has staged. */
  let stagedRows = 0;

  /** Writes the staged rows of a task as a segment, with these events after them. */
  function merge(task: StagedTask, last: number, rev: number | null, events: readonly string[]): void {
    load().remove(task);
    insertSegment.run(task.key, last, rev, joinPacked([...task.rows, ...events]));
  }

  function mergeOldest(isDue: (task: StagedTask) => boolean): void {
    const memory = load();
    for (let task = memory.oldest; task && isDue(task); task = memory.oldest)
      merge(task, task.last, null, []);
  }

  /** Removes the rows before the first one that is needed. */
  function removeOld(): void {
    removeStaged.run(load().firstId);
    load().onRemoved();
  }

  return {
    /** The methods that write are to be called inside a transaction. */
    write(key: number, last: number, rev: number | null, events: string, isNew: boolean): void {
      const task = isNew ? undefined : load().find(key);
      const chars = (task?.chars ?? 0) + events.length;
      if (isNew || rev !== null || events.length > ROW_CHARS_MAX || chars > SEGMENT_CHARS_MAX) {
        if (task) merge(task, last, rev, [events]);
        else insertSegment.run(key, last, rev, events);
      } else {
        insertStaged.run(load().add(key, last, events), key, last, events);
        stagedRows += 1;
      }
    },
    /**
     * After the rows of a commit: keeps the table small. A commit makes no more segments than it has staged rows, or the tasks
     * of one large commit would stay together and make the commit large that merges them, again and again.
     */
    trim(): void {
      const memory = load();
      mergeOldest(task => memory.charsSince(task) > STAGED_CHARS_MAX && stagedRows-- > 0);
      stagedRows = 0;
      if (memory.removable >= (memory.oldest ? REMOVED_ROWS_MIN : 1)) removeOld();
    },
    /** Staged rows become segments, and the table is empty. */
    mergeAll(): void {
      mergeOldest(() => true);
      removeOld();
    },
    /** To be called when a transaction was rolled back. The disk may not be readable now: the next use reads the table. */
    rollBack(): void {
      stagedRows = 0;
      loaded = undefined;
    },
    /** The staged rows of a task as one, if they have an event after this one. */
    findAfter(key: number, from: number): SegmentRow | undefined {
      const task = load().find(key);
      return task && task.last > from ? { last: task.last, events: joinPacked(task.rows) } : undefined;
    },
  };
}
