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
import { leaseTime } from "./clock-set-back.ts";
import type { Asker, Database } from "./database.ts";
import type { Owners } from "./owners.ts";
import type { Reader } from "./reader.ts";
import type { Known } from "./task-cache.ts";

export interface PushParts {
  readonly db: Database;
  readonly owners: Owners;
  readonly reader: Reader;
  /** Leases and retries are due by it. */
  readonly wallTime: () => number;
  /** How long one is held without a sign of life: longer than a webhook may take to answer. */
  readonly pushLeaseMs: number;
  /** This node, like no other. */
  readonly node: string;
  readonly onPushDue: () => void;
}

interface Row {
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

/** As the index says it: something has happened, or an attempt failed, or somebody is at it. */
const MAY_BE_DUE =
  "state = 'live' AND (rung OR next_at IS NOT NULL OR worker IS NOT NULL OR happened > greatest(place, looked))";
/** It is time to try, and nobody is at it, or whoever was gives no sign of life. */
const IS_DUE = `${MAY_BE_DUE} AND coalesce(next_at, 0) <= $1 AND (worker IS NULL OR lease_until <= ${leaseTime("$1")})`;

/** With `changed`, the tasks to which something has happened: whoever wants to know of it is due. */
export const RING_PUSHES = (changed: string): string =>
  `UPDATE push p SET happened = c.seq FROM ${changed} c WHERE p.task = c.key AND p.state = 'live' RETURNING p.task`;

/**
 * An append that was under way while a config was set may not have seen it: whoever looks now and then finds what is
 * missing. How many there were.
 */
export async function findMissed(on: Asker): Promise<number> {
  const rows = await on.query(
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

/** When one is tried again, or when another node that holds it should have given a sign of life. */
const NEXT =
  "SELECT min(at) AS at FROM (SELECT CASE WHEN worker IS NULL THEN next_at WHEN worker <> $2 " +
  `THEN greatest(lease_until, next_at) END AS at FROM push WHERE ${MAY_BE_DUE}) AS p WHERE at > $1`;

/** Who holds what: a claim and its turn, which is the fence. */
interface Hold {
  readonly task: number;
  readonly turn: number;
}

/** Push configs and the work of delivering, for all nodes. */
export class PushBook {
  readonly #parts: PushParts;
  readonly #holds = new WeakMap<PushSubscription, Hold>();

  readonly #look: NodeJS.Timeout;

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#look = setInterval(() => void this.#findMissed().catch(() => {}), LIMITS.busPollMs).unref();
  }

  async #findMissed(): Promise<void> {
    if ((await findMissed(this.#parts.db)) > 0) this.#parts.onPushDue();
  }

  close(): void {
    clearInterval(this.#look);
  }

  readonly pushes: PushConfigs = {
    set: async (scope, taskId, push) => {
      const known = await this.#find(scope, taskId);
      try {
        await this.#parts.db.transact(on => writePush(on, known, push, known.seq, this.#parts.wallTime()));
      } finally {
        // Also if the answer was lost: it may be there all the same.
        this.#parts.onPushDue();
      }
    },
    list: async (scope, taskId) => {
      const { key } = await this.#find(scope, taskId);
      const sql = "SELECT config FROM push WHERE task = $1 ORDER BY nth";
      const rows = await this.#parts.db.query<{ config: string }>(sql, [key]);
      return rows.map(({ config }) => JSON.parse(config) as PushConfig);
    },
    remove: async (scope, taskId, id) => {
      const { key } = await this.#find(scope, taskId);
      await this.#parts.db.query("DELETE FROM push WHERE task = $1 AND id = $2", [key, id]);
    },
  };

  async #find(scope: Scope, taskId: TaskId): Promise<Known> {
    const known = await this.#parts.reader.find(scope, taskId, true);
    if (!known) throw taskNotFound(taskId);
    return known;
  }

  readonly deliveries: PushQueue = {
    claim: async (busy, max) => {
      const { db, owners, wallTime, node, pushLeaseMs } = this.#parts;
      const rows = await db.query<Row>(CLAIM, [wallTime(), [...busy], max, node, pushLeaseMs]);
      await owners.learn(rows.map(row => row.owner));
      return rows.map(row => this.#toHeld(row));
    },
    record: (held, progress, attempt) => this.#record(held, progress, attempt),
    remove: async held => {
      const hold = this.#holds.get(held);
      if (hold)
        await this.#parts.db.query("DELETE FROM push WHERE task = $1 AND id = $2 AND turn = $3", [
          hold.task,
          held.config.id,
          hold.turn,
        ]);
    },
    release: (held, place, more) => this.#release(held, place, more),
    nextInMs: async () => {
      const { db, node, wallTime } = this.#parts;
      const [next] = await db.query<{ at: number | null }>(NEXT, [wallTime(), node]);
      return next?.at == null ? undefined : Math.max(0, next.at - wallTime());
    },
    look: async taskId => {
      const { db, owners, wallTime } = this.#parts;
      const since = wallTime() - LIMITS.pushAttemptsMs;
      const all = await deliveriesOf(db, owners, taskId);
      return all.map(one => ({ ...one, attempts: one.attempts.filter(({ at }) => at > since) }));
    },
    redeliver: async (taskId, id, from) => {
      const rows = (await rowsOf(this.#parts.db, taskId)).filter(row => id === undefined || row.id === id);
      for (const row of rows) await this.#again(row, from);
      if (rows.length > 0) this.#parts.onPushDue();
      return rows.length;
    },
  };

  #toHeld(row: Row): PushSubscription {
    const delivery = toDelivery(row, this.#parts.owners);
    this.#holds.set(delivery, { task: row.task, turn: row.turn });
    return delivery;
  }

  async #record(
    held: PushSubscription,
    progress: PushProgress,
    attempt: PushAttempt | undefined,
  ): Promise<PushSubscription | null> {
    const hold = this.#holds.get(held);
    if (!hold) return null;
    const { cursor: place, until, state, failed, nextAt } = progress;
    const attempts = attempt ? [...held.attempts, attempt].slice(-LIMITS.pushAttemptsMax) : held.attempts;
    const { pushLeaseMs, wallTime, db } = this.#parts;
    const [row] = await db.query<Row>(
      `WITH changed AS (
         UPDATE push SET place = $4, until = $5, state = $6, failed_count = $7, failed_since = $8, next_at = $9,
           attempts = $10, lease_until = $11
         WHERE task = $1 AND id = $2 AND turn = $3 AND worker IS NOT NULL RETURNING *
       ) SELECT ${COLUMNS} FROM changed p JOIN task t ON t.key = p.task`,
      [
        hold.task,
        held.config.id,
        hold.turn,
        place,
        until ?? null,
        state,
        failed?.count ?? null,
        failed?.since ?? null,
        nextAt ?? null,
        JSON.stringify(attempts),
        wallTime() + pushLeaseMs,
      ],
    );
    if (!row) return null;
    return this.#toHeld(row);
  }

  async #release(held: PushSubscription, place: Seq, more: boolean): Promise<void> {
    const hold = this.#holds.get(held);
    if (!hold) return;
    await this.#parts.db.query(
      "UPDATE push SET worker = NULL, lease_until = NULL, place = greatest(place, $4), rung = rung OR $5, due = CASE WHEN $5 THEN nextval('revision') ELSE due END " +
        "WHERE task = $1 AND id = $2 AND turn = $3",
      [hold.task, held.config.id, hold.turn, place, more],
    );
    if (more) this.#parts.onPushDue();
  }

  async #again(row: Row, from: "place" | "start"): Promise<void> {
    await this.#parts.db.query(
      from === "place"
        ? "UPDATE push SET failed_count = NULL, failed_since = NULL, next_at = NULL, rung = true, " +
            "state = CASE WHEN state = 'done' THEN state ELSE 'live' END WHERE task = $1 AND id = $2"
        : "UPDATE push SET failed_count = NULL, failed_since = NULL, next_at = NULL, until = NULL, rung = true, " +
            "state = 'live', place = start, turn = turn + 1, worker = NULL, lease_until = NULL WHERE task = $1 AND id = $2",
      [row.task, row.id],
    );
  }
}

async function rowsOf(on: Asker, taskId: TaskId): Promise<readonly Row[]> {
  if (timeKey(taskId) === null) return [];
  return on.query<Row>(`SELECT ${COLUMNS} ${FROM} WHERE t.id = $1 ORDER BY p.nth`, [taskId]);
}

/** All configs of a task. */
export async function deliveriesOf(
  on: Asker,
  owners: Owners,
  taskId: TaskId,
): Promise<readonly PushSubscription[]> {
  const rows = await rowsOf(on, taskId);
  await owners.learn(rows.map(row => row.owner));
  return rows.map(row => toDelivery(row, owners));
}

function toDelivery(row: Row, owners: Owners): PushSubscription {
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

const GO_ON =
  "UPDATE push SET config = $3, failed_count = NULL, failed_since = NULL, next_at = NULL, rung = true, " +
  "state = CASE WHEN state = 'done' THEN state ELSE 'live' END WHERE task = $1 AND id = $2";

/** In a transaction. `after`: where the log ended before what is recorded with it; `seq`: where it ends then. */
export async function writePush(
  on: Asker,
  { key, seq, taskId }: Pick<Known, "key" | "seq" | "taskId">,
  push: NewPushSubscription,
  after: number,
  now: number,
): Promise<void> {
  // One after another, or two at once would each see room for the last one.
  await on.query("SELECT key FROM task WHERE key = $1 FOR UPDATE", [key]);
  const rows = await on.query<{ id: string; config: string }>("SELECT id, config FROM push WHERE task = $1", [
    key,
  ]);
  const { config } = push;
  const old = rows.find(row => row.id === config.id);
  if (!old && rows.length >= LIMITS.pushConfigsPerTaskMax) throw tooMany(taskId);
  const goesOn = old && (JSON.parse(old.config) as PushConfig).url === config.url;
  if (goesOn) await on.query(GO_ON, [key, config.id, JSON.stringify(config)]);
  else
    await on.query(INSERT, [
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

const tooMany = (taskId: TaskId): Fault =>
  new Fault(
    "invalid-params",
    `A task has at most ${LIMITS.pushConfigsPerTaskMax} push configs; delete one, or give the id of one that is to be replaced`,
    { taskId },
  );
