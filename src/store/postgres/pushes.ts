import {
  Fault,
  hostOf,
  LIMITS,
  type PushConfig,
  type Scope,
  type Seq,
  type TaskId,
  taskNotFound,
  timeKey,
} from "../../model/index.ts";
import type {
  NewPushSubscription,
  PushAttempt,
  PushConfigs,
  PushProgress,
  PushQueue,
  PushSubscription,
} from "../../ports/index.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { leaseTime } from "./clock-set-back.ts";
import type { Database, Queryable } from "./database.ts";
import type { OwnerIds } from "./owners.ts";
import type { TaskReader } from "./reader.ts";
import type { CachedTask } from "./task-cache.ts";

export interface PostgresPushParts extends Pick<StoreParts, "wallTime" | "onPushDue"> {
  readonly db: Database;
  readonly owners: OwnerIds;
  readonly reader: TaskReader;
  /** How long a subscription stays claimed without progress: longer than the timeout of a webhook request. */
  readonly pushLeaseMs: number;
  /** The unique id of this node. */
  readonly node: string;
}

export interface PushRow {
  readonly task: number;
  readonly task_id: string;
  readonly owner: number;
  readonly id: string;
  readonly key: string;
  readonly opening: NewPushSubscription["opening"];
  readonly config: string;
  readonly set_at: number;
  readonly start: number;
  readonly place: number;
  readonly until: number | null;
  readonly state: PushSubscription["state"];
  readonly failed_count: number | null;
  readonly failed_since: number | null;
  readonly next_at: number | null;
  readonly attempts: string;
  readonly turn: number;
}

const COLUMNS =
  "p.task, t.id AS task_id, t.owner, p.id, p.key, p.opening, p.config, p.set_at, p.start, p.place, p.until, p.state, " +
  "p.failed_count, p.failed_since, p.next_at, p.attempts, p.turn";
const FROM = "FROM push p JOIN task t ON t.key = p.task";

/** The condition of the index `push_due`: there are new events, or an attempt failed, or a worker has claimed it. */
const MAY_BE_DUE =
  "state = 'live' AND (rung OR next_at IS NOT NULL OR worker IS NOT NULL OR happened > greatest(place, looked))";
/** The time of the next attempt has come, and no worker has a valid claim. */
const IS_DUE = `${MAY_BE_DUE} AND coalesce(next_at, 0) <= $1 AND (worker IS NULL OR lease_until <= ${leaseTime("$1")})`;

/** SQL that makes the subscriptions of tasks with new events due. `changed`: a CTE with their `key` and `seq`. */
export const markPushesDue = (changed: string): string =>
  `UPDATE push p SET happened = c.seq FROM ${changed} c WHERE p.task = c.key AND p.state = 'live' RETURNING p.task`;

/**
 * An append that ran while a config was being set may not have seen the config: this finds such subscriptions and makes
 * them due. Returns their number.
 */
export async function markMissedPushes(db: Queryable): Promise<number> {
  const rows = await db.query(
    "UPDATE push p SET happened = t.seq FROM task t WHERE t.key = p.task AND p.state = 'live' " +
      "AND greatest(p.happened, p.place) < t.seq RETURNING p.task",
  );
  return rows.length;
}

const CLAIM = `
WITH first AS (
  SELECT DISTINCT ON (host) task, id, next_at, due FROM push
  WHERE ${IS_DUE} AND host <> ALL($2) ORDER BY host, coalesce(next_at, 0), due
), chosen AS (
  SELECT task, id FROM push WHERE ${IS_DUE} AND (task, id) IN (
    SELECT task, id FROM first ORDER BY coalesce(next_at, 0), due LIMIT $3
  ) FOR UPDATE SKIP LOCKED
), held AS (
  UPDATE push p SET worker = $4, lease_until = $1 + $5::bigint, rung = false, looked = p.happened, turn = p.turn + 1
  FROM chosen c WHERE p.task = c.task AND p.id = c.id RETURNING p.*
)
SELECT ${COLUMNS} FROM held p JOIN task t ON t.key = p.task ORDER BY coalesce(p.next_at, 0), p.due`;

/** The time of the next retry, or when the claim of another node expires. */
const NEXT =
  "SELECT min(at) AS at FROM (SELECT CASE WHEN worker IS NULL THEN next_at WHEN worker <> $2 " +
  `THEN greatest(lease_until, next_at) END AS at FROM push WHERE ${MAY_BE_DUE}) AS p WHERE at > $1`;

/** A claim of a subscription; `turn` is the fencing number. */
interface PushClaim {
  readonly task: number;
  readonly turn: number;
}

/** The push configs and the delivery queue of all nodes. */
export class PostgresPushes {
  readonly #parts: PostgresPushParts;
  readonly #claims = new WeakMap<PushSubscription, PushClaim>();
  readonly #missedTimer: NodeJS.Timeout;

  constructor(parts: PostgresPushParts) {
    this.#parts = parts;
    this.#missedTimer = setInterval(() => void this.#markMissed().catch(() => {}), LIMITS.busPollMs).unref();
  }

  async #markMissed(): Promise<void> {
    if ((await markMissedPushes(this.#parts.db)) > 0) this.#parts.onPushDue();
  }

  close(): void {
    clearInterval(this.#missedTimer);
  }

  readonly configs: PushConfigs = {
    set: async (scope, taskId, push) => {
      const { db, wallTime, onPushDue } = this.#parts;
      const task = await this.#findTask(scope, taskId);
      try {
        await db.transact(tx => upsertPush(tx, task, push, task.seq, wallTime()));
      } finally {
        // Also after an error: the commit may have happened although its response was lost.
        onPushDue();
      }
    },
    list: async (scope, taskId) => {
      const { key } = await this.#findTask(scope, taskId);
      const sql = "SELECT config FROM push WHERE task = $1 ORDER BY nth";
      const rows = await this.#parts.db.query<{ config: string }>(sql, [key]);
      return rows.map(({ config }) => JSON.parse(config) as PushConfig);
    },
    remove: async (scope, taskId, id) => {
      const { key } = await this.#findTask(scope, taskId);
      await this.#parts.db.query("DELETE FROM push WHERE task = $1 AND id = $2", [key, id]);
    },
  };

  async #findTask(scope: Scope, taskId: TaskId): Promise<CachedTask> {
    const task = await this.#parts.reader.find(scope, taskId, true);
    if (!task) throw taskNotFound(taskId);
    return task;
  }

  readonly queue: PushQueue = {
    claim: async (busy, max) => {
      const { db, owners, wallTime, node, pushLeaseMs } = this.#parts;
      const rows = await db.query<PushRow>(CLAIM, [wallTime(), [...busy], max, node, pushLeaseMs]);
      await owners.load(rows.map(row => row.owner));
      return rows.map(row => this.#toClaimed(row));
    },
    record: (claimed, progress, attempt) => this.#record(claimed, progress, attempt),
    remove: async claimed => {
      const claim = this.#claims.get(claimed);
      if (claim)
        await this.#parts.db.query("DELETE FROM push WHERE task = $1 AND id = $2 AND turn = $3", [
          claim.task,
          claimed.config.id,
          claim.turn,
        ]);
    },
    release: async (claimed, cursor, more) => {
      const claim = this.#claims.get(claimed);
      if (!claim) return;
      await this.#parts.db.query(
        "UPDATE push SET worker = NULL, lease_until = NULL, place = greatest(place, $4), rung = rung OR $5, due = CASE WHEN $5 THEN nextval('revision') ELSE due END " +
          "WHERE task = $1 AND id = $2 AND turn = $3",
        [claim.task, claimed.config.id, claim.turn, cursor, more],
      );
      if (more) this.#parts.onPushDue();
    },
    nextInMs: async () => {
      const { db, node, wallTime } = this.#parts;
      const [next] = await db.query<{ at: number | null }>(NEXT, [wallTime(), node]);
      return next?.at == null ? undefined : Math.max(0, next.at - wallTime());
    },
    list: async taskId => {
      const { db, owners, wallTime } = this.#parts;
      const since = wallTime() - LIMITS.pushAttemptsMs;
      const subscriptions = await readPushSubscriptions(db, owners, taskId);
      return subscriptions.map(subscription => ({
        ...subscription,
        attempts: subscription.attempts.filter(({ at }) => at > since),
      }));
    },
    redeliver: async (taskId, id, from) => {
      const { db, onPushDue } = this.#parts;
      const rows = (await readRows(db, taskId)).filter(row => id === undefined || row.id === id);
      for (const row of rows)
        await db.query(from === "place" ? REDELIVER_FROM_CURSOR : REDELIVER_FROM_START, [row.task, row.id]);
      if (rows.length > 0) onPushDue();
      return rows.length;
    },
    giveUp: async (taskId, id) => {
      const { db } = this.#parts;
      const row = (await readRows(db, taskId)).find(one => one.id === id);
      return row !== undefined && (await db.query(GIVE_UP, [row.task, id])).length > 0;
    },
  };

  #toClaimed(row: PushRow): PushSubscription {
    const subscription = toSubscription(row, this.#parts.owners);
    this.#claims.set(subscription, { task: row.task, turn: row.turn });
    return subscription;
  }

  async #record(
    claimed: PushSubscription,
    progress: PushProgress,
    attempt: PushAttempt | undefined,
  ): Promise<PushSubscription | null> {
    const claim = this.#claims.get(claimed);
    if (!claim) return null;
    const { cursor, until, state, failed, nextAt } = progress;
    const attempts = attempt
      ? [...claimed.attempts, attempt].slice(-LIMITS.pushAttemptsMax)
      : claimed.attempts;
    const { pushLeaseMs, wallTime, db } = this.#parts;
    const [row] = await db.query<PushRow>(
      `WITH changed AS (
         UPDATE push SET place = $4, until = $5, state = $6, failed_count = $7, failed_since = $8, next_at = $9,
           attempts = $10, lease_until = $11
         WHERE task = $1 AND id = $2 AND turn = $3 AND worker IS NOT NULL RETURNING *
       ) SELECT ${COLUMNS} FROM changed p JOIN task t ON t.key = p.task`,
      [
        claim.task,
        claimed.config.id,
        claim.turn,
        cursor,
        until ?? null,
        state,
        failed?.count ?? null,
        failed?.since ?? null,
        nextAt ?? null,
        JSON.stringify(attempts),
        wallTime() + pushLeaseMs,
      ],
    );
    return row ? this.#toClaimed(row) : null;
  }
}

const REDELIVER_FROM_CURSOR =
  "UPDATE push SET failed_count = NULL, failed_since = NULL, next_at = NULL, rung = true, " +
  "state = CASE WHEN state = 'done' THEN state ELSE 'live' END WHERE task = $1 AND id = $2";
const REDELIVER_FROM_START =
  "UPDATE push SET failed_count = NULL, failed_since = NULL, next_at = NULL, until = NULL, rung = true, " +
  "state = 'live', place = start, turn = turn + 1, worker = NULL, lease_until = NULL WHERE task = $1 AND id = $2";

/** The higher turn ends a claim: the attempt that is under way is not recorded. */
const GIVE_UP =
  "UPDATE push SET state = 'dead', next_at = NULL, rung = false, turn = turn + 1, worker = NULL, lease_until = NULL " +
  "WHERE task = $1 AND id = $2 AND state = 'live' RETURNING id";

async function readRows(db: Queryable, taskId: TaskId): Promise<readonly PushRow[]> {
  if (timeKey(taskId) === null) return [];
  return db.query<PushRow>(`SELECT ${COLUMNS} ${FROM} WHERE t.id = $1 ORDER BY p.nth`, [taskId]);
}

/** All subscriptions of a task. */
export async function readPushSubscriptions(
  db: Queryable,
  owners: OwnerIds,
  taskId: TaskId,
): Promise<readonly PushSubscription[]> {
  const rows = await readRows(db, taskId);
  await owners.load(rows.map(row => row.owner));
  return rows.map(row => toSubscription(row, owners));
}

/** The subscriptions of all tasks, the newest first; `condition` is SQL with these values from $3 on. */
export async function readNewestPushes(
  db: Queryable,
  before: number,
  max: number,
  condition: string,
  values: readonly unknown[],
): Promise<readonly (PushRow & { readonly nth: number })[]> {
  const sql = `SELECT p.nth, ${COLUMNS} ${FROM} WHERE p.nth < $1 ${condition} ORDER BY p.nth DESC LIMIT $2`;
  return db.query<PushRow & { readonly nth: number }>(sql, [before, max, ...values]);
}

export function toSubscription(row: PushRow, owners: OwnerIds): PushSubscription {
  const { until, failed_count: count, failed_since: since, next_at: nextAt } = row;
  return {
    config: JSON.parse(row.config) as PushConfig,
    key: row.key,
    opening: row.opening,
    scope: owners.scopeOf(row.owner),
    taskId: row.task_id as TaskId,
    setAt: row.set_at,
    start: row.start as Seq,
    cursor: row.place as Seq,
    state: row.state,
    attempts: JSON.parse(row.attempts) as readonly PushAttempt[],
    ...(until !== null && { until: until as Seq }),
    ...(count !== null && since !== null && { failed: { count, since } }),
    ...(nextAt !== null && { nextAt }),
  };
}

const INSERT =
  "INSERT INTO push (task, id, host, key, opening, config, set_at, start, place, state) " +
  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, 'live') ON CONFLICT (task, id) DO UPDATE SET " +
  "host = excluded.host, key = excluded.key, opening = excluded.opening, config = excluded.config, " +
  "set_at = excluded.set_at, start = excluded.start, place = excluded.place, state = 'live', until = NULL, " +
  "failed_count = NULL, failed_since = NULL, next_at = NULL, attempts = '[]', rung = true, turn = push.turn + 1, " +
  "worker = NULL, lease_until = NULL";

const UPDATE =
  "UPDATE push SET config = $3, failed_count = NULL, failed_since = NULL, next_at = NULL, rung = true, " +
  "state = CASE WHEN state = 'done' THEN state ELSE 'live' END WHERE task = $1 AND id = $2";

/**
 * Must run in a transaction. A config with the same id and URL continues at its cursor, any other starts over. `after`:
 * where the log ended before the events that are committed with the config; `seq`: where it ends after them.
 */
export async function upsertPush(
  tx: Queryable,
  { key, seq, taskId }: Pick<CachedTask, "key" | "seq" | "taskId">,
  push: NewPushSubscription,
  after: number,
  now: number,
): Promise<void> {
  // Without the lock, two concurrent configs could exceed the limit.
  await tx.query("SELECT key FROM task WHERE key = $1 FOR UPDATE", [key]);
  const rows = await tx.query<{ id: string; config: string }>("SELECT id, config FROM push WHERE task = $1", [
    key,
  ]);
  const { config } = push;
  const existing = rows.find(row => row.id === config.id);
  if (!existing && rows.length >= LIMITS.pushConfigsPerTaskMax)
    throw new Fault("invalid-params", TOO_MANY, { taskId });
  const continues = existing && (JSON.parse(existing.config) as PushConfig).url === config.url;
  if (continues) await tx.query(UPDATE, [key, config.id, JSON.stringify(config)]);
  else
    await tx.query(INSERT, [
      key,
      config.id,
      hostOf(config),
      push.key,
      push.opening,
      JSON.stringify(config),
      now,
      push.opening === "task" ? seq - 1 : after,
    ]);
}

const TOO_MANY = `A task has at most ${LIMITS.pushConfigsPerTaskMax} push configs; delete one, or give the id of one that is to be replaced`;
