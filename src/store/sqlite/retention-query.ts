import type { DatabaseSync } from "node:sqlite";
import type { AgentName, TaskId } from "../../model/index.ts";
import type { RetentionBounds } from "../kernel/retention.ts";
import { FIRST_SETTLED, FIRST_TERMINAL } from "../kernel/state-numbers.ts";
import type { ExpiredData, TaskRevision } from "../single-node/backend.ts";

interface TaskRow {
  readonly id: string;
  readonly key: number;
  readonly rev: number;
  readonly state: number;
  readonly status_at: number;
  readonly hidden: 0 | 1;
}

export type RetentionQuery = (agent: AgentName, bounds: RetentionBounds) => ExpiredData;

/**
 * Finds expired data. Scans the tasks of an owner by revision, which is nearly the order of time, up to the first task that
 * is too new. There is no index by time: every write would pay for it.
 */
export function createRetentionQuery(db: DatabaseSync): RetentionQuery {
  const selectOwners = db.prepare("SELECT id FROM owner WHERE agent = ? ORDER BY id");
  const selectOldest = db.prepare(
    "SELECT id, key, rev, state, status_at, hidden FROM task WHERE owner = ? AND rev > ? ORDER BY rev",
  );
  const selectSurplus = db.prepare(
    `SELECT rev FROM task WHERE owner = ? AND state >= ${FIRST_TERMINAL} AND hidden = ? ORDER BY rev DESC LIMIT 1 OFFSET ?`,
  );
  const hasNames = db.prepare("SELECT 1 FROM name WHERE task = ? LIMIT 1");
  const hasEvents = db.prepare(
    "SELECT 1 FROM task WHERE key = ? AND " +
      "(whole IS NOT NULL OR EXISTS (SELECT 1 FROM segment WHERE segment.task = key AND last > since))",
  );
  /** By owner: no task up to this revision has events to remove. A task that changes gets a later revision. */
  const compactedRevs = new Map<number, number>();

  const scan = (owner: number, after: number): Iterable<TaskRow> =>
    selectOldest.iterate(owner, after) as unknown as Iterable<TaskRow>;

  /** The newest surplus task of an owner; lists do not show bare replies, so these are counted separately. */
  function findSurplus(owner: number, newest: number | undefined): readonly [shown: number, hidden: number] {
    const revOf = (hidden: 0 | 1): number =>
      newest === undefined ? 0 : ((selectSurplus.get(owner, hidden, newest)?.rev as number | undefined) ?? 0);
    return [revOf(0), revOf(1)];
  }

  function* findTasks(owner: number, bounds: RetentionBounds, max: number): Generator<TaskRevision> {
    let found = 0;
    const { settledBy = Number.NEGATIVE_INFINITY, namedBy } = bounds;
    const surplus = findSurplus(owner, bounds.newest);
    const lastSurplus = Math.max(...surplus);
    for (const row of scan(owner, 0)) {
      if (found >= max || (row.status_at > settledBy && row.rev > lastSurplus)) return;
      const isOld = row.state >= FIRST_SETTLED && row.status_at <= settledBy;
      const isSurplus = row.state >= FIRST_TERMINAL && row.rev <= surplus[row.hidden];
      if (!(isOld || isSurplus) || (row.status_at > namedBy && hasNames.get(row.key))) continue;
      found += 1;
      yield toRevision(row);
    }
  }

  function* findLogs(owner: number, eventsBy: number, max: number): Generator<TaskRevision> {
    let found = 0;
    for (const row of scan(owner, compactedRevs.get(owner) ?? 0)) {
      if (found >= max || row.status_at > eventsBy) return;
      if (row.state >= FIRST_TERMINAL && row.hidden === 0 && hasEvents.get(row.key)) {
        found += 1;
        yield toRevision(row);
      } else if (found === 0) compactedRevs.set(owner, row.rev);
    }
  }

  return (agent, bounds) => {
    const tasks: TaskRevision[] = [];
    const logs: TaskRevision[] = [];
    const { settledBy, newest, eventsBy, max } = bounds;
    for (const { id } of selectOwners.all(agent) as { id: number }[]) {
      if (tasks.length >= max || logs.length >= max) break;
      if (settledBy !== undefined || newest !== undefined)
        for (const task of findTasks(id, bounds, max - tasks.length)) tasks.push(task);
      if (eventsBy !== undefined) for (const log of findLogs(id, eventsBy, max - logs.length)) logs.push(log);
    }
    return { tasks, logs };
  };
}

const toRevision = ({ id, rev }: TaskRow): TaskRevision => ({ taskId: id as TaskId, rev });
