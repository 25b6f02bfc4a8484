import type { DatabaseSync } from "node:sqlite";
import type { AgentName, TaskId } from "../../model/index.ts";
import { FIRST_SETTLED, FIRST_TERMINAL } from "../kernel/state-numbers.ts";
import type { Bounds, Outdated, Place } from "../single-node/backend.ts";

interface Row {
  readonly id: string;
  readonly key: number;
  readonly rev: number;
  readonly state: number;
  readonly status_at: number;
  readonly hidden: 0 | 1;
}

export type Finder = (agent: AgentName, bounds: Bounds) => Outdated;

/**
 * Finds what is no longer kept. Tasks of one owner are walked in order of revision, which is nearly that of time: the
 * walk ends at the first one that is too young. There is no index by time, so that those who write pay for none.
 */
export function createFinder(db: DatabaseSync): Finder {
  const owners = db.prepare("SELECT id FROM owner WHERE agent = ? ORDER BY id");
  const oldest = db.prepare(
    "SELECT id, key, rev, state, status_at, hidden FROM task WHERE owner = ? AND rev > ? ORDER BY rev",
  );
  const surplus = db.prepare(
    `SELECT rev FROM task WHERE owner = ? AND state >= ${FIRST_TERMINAL} AND hidden = ? ORDER BY rev DESC LIMIT 1 OFFSET ?`,
  );
  const called = db.prepare("SELECT 1 FROM name WHERE task = ? LIMIT 1");
  const events = db.prepare(
    "SELECT 1 FROM task WHERE key = ? AND " +
      "(whole IS NOT NULL OR EXISTS (SELECT 1 FROM segment WHERE segment.task = key AND last > since))",
  );
  /** Up to here no task of the owner has events that could go: what changes again gets a later revision. */
  const compacted = new Map<number, number>();

  const walk = (owner: number, after: number): Iterable<Row> =>
    oldest.iterate(owner, after) as unknown as Iterable<Row>;

  /** The newest ended task of an owner that is one too many; callers do not see replies, so these are counted apart. */
  function surplusOf(owner: number, newest: number | undefined): readonly [shown: number, hidden: number] {
    const revOf = (hidden: 0 | 1): number =>
      newest === undefined ? 0 : ((surplus.get(owner, hidden, newest)?.rev as number | undefined) ?? 0);
    return [revOf(0), revOf(1)];
  }

  function* findTasks(owner: number, bounds: Bounds, room: number): Generator<Place> {
    let found = 0;
    const { settledBy = Number.NEGATIVE_INFINITY, namedBy } = bounds;
    const extra = surplusOf(owner, bounds.newest);
    const last = Math.max(...extra);
    for (const row of walk(owner, 0)) {
      if (found >= room || (row.status_at > settledBy && row.rev > last)) return;
      const isOld = row.state >= FIRST_SETTLED && row.status_at <= settledBy;
      const isExtra = row.state >= FIRST_TERMINAL && row.rev <= extra[row.hidden];
      if (!(isOld || isExtra) || (row.status_at > namedBy && called.get(row.key))) continue;
      found += 1;
      yield toPlace(row);
    }
  }

  function* findLogs(owner: number, eventsBy: number, room: number): Generator<Place> {
    let found = 0;
    for (const row of walk(owner, compacted.get(owner) ?? 0)) {
      if (found >= room || row.status_at > eventsBy) return;
      if (row.state >= FIRST_TERMINAL && row.hidden === 0 && events.get(row.key)) {
        found += 1;
        yield toPlace(row);
      } else if (found === 0) compacted.set(owner, row.rev);
    }
  }

  return (agent, bounds) => {
    const tasks: Place[] = [];
    const logs: Place[] = [];
    const { settledBy, newest, eventsBy, max } = bounds;
    for (const { id } of owners.all(agent) as { id: number }[]) {
      if (tasks.length >= max || logs.length >= max) break;
      if (settledBy !== undefined || newest !== undefined)
        for (const place of findTasks(id, bounds, max - tasks.length)) tasks.push(place);
      if (eventsBy !== undefined)
        for (const place of findLogs(id, eventsBy, max - logs.length)) logs.push(place);
    }
    return { tasks, logs };
  };
}

const toPlace = ({ id, rev }: Row): Place => ({ taskId: id as TaskId, rev });
