import type { DatabaseSync } from "node:sqlite";
import { hostOf, type Seq, type TaskId, timeKey } from "../../model/index.ts";
import type { PushScan, PushScanPage, PushSubscription } from "../../ports/index.ts";
import { scanRows } from "../kernel/scan.ts";
import {
  type PushBackend,
  type PushChange,
  type PushCursor,
  retryDelayMs,
  type WaitingPush,
} from "../single-node/backend.ts";
import { BOUND_LIMIT } from "./bound-limit.ts";
import type { OwnerTable } from "./owners.ts";

/** The number of a state on disk is its index here. Add at the end only. */
const PUSH_STATES: readonly PushSubscription["state"][] = ["live", "done", "dead"];

/** The members without a column of their own, as JSON in the column `more`. */
type StoredMembers = Omit<PushSubscription, "scope" | "taskId" | "state" | "cursor" | "nextAt">;

interface PushRow {
  readonly owner: number;
  readonly state: number;
  readonly place: number;
  readonly next_at: number | null;
  readonly more: string;
}
interface ScannedRow extends PushRow {
  readonly nr: number;
  readonly task_id: string;
  readonly host: string;
}
interface CursorRow {
  readonly task_id: string;
  readonly id: string;
  readonly host: string;
  readonly place: number;
  readonly next_at: number;
  readonly behind: number;
}
interface WaitingRow extends CursorRow {
  readonly tried_at: number | null;
  readonly planned_at: number | null;
}

/** Push configs: one row each. */
export function createPushTable(db: DatabaseSync, owners: OwnerTable) {
  const selectOfTask = db.prepare(
    "SELECT owner, push.state, place, next_at, more FROM push JOIN task ON task.key = push.task " +
      "WHERE push.task = ? AND task.id = ? ORDER BY nr",
  );
  const selectLive = (columns: string): string =>
    `SELECT task.id AS task_id, push.id, host, place, next_at, ${columns} ` +
    // A task of a single commit has no segments: it may have events to deliver.
    "place < coalesce((SELECT max(last) FROM segment WHERE segment.task = push.task), place + 1) AS behind " +
    "FROM push JOIN task ON task.key = push.task WHERE push.state = 0 AND next_at";
  const selectIdle = db.prepare(`${selectLive("")} IS NULL`);
  const lastAttempt =
    "more ->> '$.attempts[#-1].at' AS tried_at, more ->> '$.attempts[#-1].nextAt' AS planned_at,";
  const selectWaiting = db.prepare(`${selectLive(lastAttempt)} IS NOT NULL ORDER BY next_at ${BOUND_LIMIT}`);
  const upsert = db.prepare(
    "INSERT INTO push (task, id, host, state, place, next_at, more) " +
      "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM task WHERE key = ?1 " +
      "ON CONFLICT (task, id) DO UPDATE SET host = excluded.host, state = excluded.state, " +
      "place = excluded.place, next_at = excluded.next_at, more = excluded.more",
  );
  const selectNewest = db.prepare(
    "SELECT nr, task.id AS task_id, owner, push.state, place, next_at, more, host FROM push " +
      `JOIN task ON task.key = push.task WHERE nr < ? ORDER BY nr DESC ${BOUND_LIMIT}`,
  );
  const remove = db.prepare("DELETE FROM push WHERE task = ? AND id = ?");

  const toSubscription = (
    taskId: TaskId,
    { owner, state, place, next_at, more }: PushRow,
  ): PushSubscription => ({
    ...(JSON.parse(more) as StoredMembers),
    scope: owners.scopeOf(owner),
    taskId,
    state: PUSH_STATES[state] as PushSubscription["state"],
    cursor: place as Seq,
    ...(next_at !== null && { nextAt: next_at }),
  });

  function scan({ owners: filter, state, host, after, max }: PushScan): PushScanPage {
    const allowed = owners.matching(filter);
    const { found, next } = scanRows<ScannedRow>({
      max,
      matches: row =>
        (!allowed || allowed.has(row.owner)) &&
        (host === undefined || row.host === host) &&
        (state === undefined || state === stateOf(row) || (state === "failing" && isFailing(row))),
      fetch: (last, count) =>
        selectNewest.all(last?.nr ?? after ?? Number.MAX_SAFE_INTEGER, count) as unknown as ScannedRow[],
    });
    const pushes = found.map(row => ({
      ...toSubscription(row.task_id as TaskId, row),
      agent: owners.agentOf(row.owner),
    }));
    return { pushes, next: next?.nr };
  }

  const backend: PushBackend = {
    scan,
    of: taskId =>
      (selectOfTask.all(timeKey(taskId), taskId) as unknown as PushRow[]).map(row =>
        toSubscription(taskId, row),
      ),
    idle: () =>
      (selectIdle.all() as unknown as CursorRow[]).map(row => ({
        ...toCursor(row),
        behind: row.behind === 1,
      })),
    waiting: max => (selectWaiting.all(max) as unknown as WaitingRow[]).map(toWaiting),
  };

  return {
    backend,
    /** Only inside a transaction, after the changes of tasks. */
    write({ taskId, id, subscription }: PushChange): void {
      const key = timeKey(taskId);
      if (!subscription) {
        remove.run(key, id);
        return;
      }
      const { scope: _, taskId: __, state, cursor, nextAt, ...more } = subscription;
      const host = hostOf(subscription.config);
      upsert.run(key, id, host, PUSH_STATES.indexOf(state), cursor, nextAt ?? null, JSON.stringify(more));
    },
  };
}

const stateOf = ({ state }: PushRow): PushSubscription["state"] =>
  PUSH_STATES[state] as PushSubscription["state"];
/** After a failed attempt there is a time for the next one. */
const isFailing = (row: PushRow): boolean => stateOf(row) === "live" && row.next_at !== null;

const toWaiting = (row: WaitingRow): WaitingPush => ({
  ...toCursor(row),
  nextAt: row.next_at,
  retryDelayMs: retryDelayMs(
    row.tried_at === null || row.planned_at === null
      ? undefined
      : { at: row.tried_at, nextAt: row.planned_at },
  ),
});

const toCursor = ({ task_id, id, host, place }: CursorRow): PushCursor => ({
  taskId: task_id as TaskId,
  id,
  host,
  cursor: place,
});
