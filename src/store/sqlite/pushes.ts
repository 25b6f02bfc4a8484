import type { DatabaseSync } from "node:sqlite";
import { hostOf, type Seq, type TaskId, timeKey } from "../../model/index.ts";
import type { PushSubscription } from "../../ports/index.ts";
import { plannedMs } from "../kernel/planned-delay.ts";
import type { PushChange, PushJournal, PushPlace, WaitingPush } from "../single-node/backend.ts";
import type { Owners } from "./owners.ts";

/** A state's number on disk is its place here. Add at the end only. */
const STATES: readonly PushSubscription["state"][] = ["live", "done", "dead"];

/** What has no column of its own. */
type More = Omit<PushSubscription, "scope" | "taskId" | "state" | "cursor" | "nextAt">;

interface Row {
  readonly owner: number;
  readonly state: number;
  readonly place: number;
  readonly next_at: number | null;
  readonly more: string;
}
interface PlaceRow {
  readonly task_id: string;
  readonly id: string;
  readonly host: string;
  readonly place: number;
  readonly next_at: number;
  readonly behind: number;
}
interface WaitingRow extends PlaceRow {
  readonly tried_at: number | null;
  readonly planned_at: number | null;
}

/** Push configs: one row each. */
export function createPushTable(db: DatabaseSync, owners: Owners) {
  const of = db.prepare(
    "SELECT owner, push.state, place, next_at, more FROM push JOIN task ON task.key = push.task " +
      "WHERE push.task = ? AND task.id = ? ORDER BY nr",
  );
  const places = (more: string): string =>
    `SELECT task.id AS task_id, push.id, host, place, next_at, ${more} ` +
    // A task whose life was one commit has no rows in its log: one has to look.
    "place < coalesce((SELECT max(last) FROM segment WHERE segment.task = push.task), place + 1) AS behind " +
    "FROM push JOIN task ON task.key = push.task WHERE push.state = 0 AND next_at";
  const idle = db.prepare(`${places("")} IS NULL`);
  const lastAttempt =
    "more ->> '$.attempts[#-1].at' AS tried_at, more ->> '$.attempts[#-1].nextAt' AS planned_at,";
  const waiting = db.prepare(`${places(lastAttempt)} IS NOT NULL ORDER BY next_at LIMIT ?`);
  const upsert = db.prepare(
    "INSERT INTO push (task, id, host, state, place, next_at, more) " +
      "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM task WHERE key = ?1 " +
      "ON CONFLICT (task, id) DO UPDATE SET host = excluded.host, state = excluded.state, " +
      "place = excluded.place, next_at = excluded.next_at, more = excluded.more",
  );
  const remove = db.prepare("DELETE FROM push WHERE task = ? AND id = ?");

  const toDelivery = (taskId: TaskId, { owner, state, place, next_at, more }: Row): PushSubscription => ({
    ...(JSON.parse(more) as More),
    scope: owners.scopeOf(owner),
    taskId,
    state: STATES[state] as PushSubscription["state"],
    cursor: place as Seq,
    ...(next_at !== null && { nextAt: next_at }),
  });

  const journal: PushJournal = {
    of: taskId => (of.all(timeKey(taskId), taskId) as unknown as Row[]).map(row => toDelivery(taskId, row)),
    idle: () =>
      (idle.all() as unknown as PlaceRow[]).map(row => ({ ...toPlace(row), behind: row.behind === 1 })),
    waiting: max => (waiting.all(max) as unknown as WaitingRow[]).map(toWaiting),
  };

  return {
    journal,
    /** Only inside a commit, after what it adds to tasks. */
    write({ taskId, id, delivery }: PushChange): void {
      const key = timeKey(taskId);
      if (!delivery) {
        remove.run(key, id);
        return;
      }
      const { scope: _, taskId: __, state, cursor: place, nextAt, ...more } = delivery;
      const host = hostOf(delivery.config);
      upsert.run(key, id, host, STATES.indexOf(state), place, nextAt ?? null, JSON.stringify(more));
    },
  };
}

const toWaiting = (row: WaitingRow): WaitingPush => ({
  ...toPlace(row),
  nextAt: row.next_at,
  plannedMs: plannedMs(
    row.tried_at === null || row.planned_at === null
      ? undefined
      : { at: row.tried_at, nextAt: row.planned_at },
  ),
});

const toPlace = ({ task_id, id, host, place }: PlaceRow): PushPlace => ({
  taskId: task_id as TaskId,
  id,
  host,
  place,
});
