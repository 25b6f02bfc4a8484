import { setTimeout as pause } from "node:timers/promises";
import type { AgentName, Scope, TaskId } from "../../model/index.ts";
import type { CommitWatch, Log, Run, RunQueue } from "../../ports.ts";
import { overQuota } from "../hot/share.ts";
import { contextKey } from "../rows/keys.ts";
import type { Asker, Database } from "./database.ts";
import { createGather } from "./gather.ts";
import type { Known } from "./known.ts";
import type { Owners } from "./owners.ts";
import { RING_PUSHES } from "./pushes.ts";
import type { Reader } from "./reader.ts";
import { NodeShares, type SharesParts } from "./shares.ts";
import type { Writer } from "./writer.ts";

export interface RunParts extends SharesParts {
  readonly db: Database;
  readonly owners: Owners;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly now: () => number;
  readonly leaseMs: number;
  /** How many nodes there are. */
  readonly nodes: () => number;
  readonly onCommitted: (taskId: TaskId) => void;
  readonly onDue: () => void;
  readonly onPushDue: () => void;
  readonly commits?: CommitWatch | undefined;
  readonly log: Log;
}

interface Candidate {
  readonly key: number;
  readonly owner: number;
  readonly context_id: string;
  readonly alone: boolean;
}

/** Two integers for the line of a context: the lock under which its next run is chosen. */
export function lineLock(owner: number, contextId: string): readonly [number, number] {
  return [owner, (contextKey(contextId) % 2 ** 31) | 0];
}

/** The lock under which runs are counted where somebody may have only so many. */
const QUOTA_LOCK = 0x4452474e;

/** Candidates that are looked at for each run that is wanted: some may be others' turn, or held. */
const SCAN_FACTOR = 4;

/**
 * Due, and nobody holds it: the head of its context's line, while none of that line runs. Who has begun comes before who
 * has not, and then who came first.
 */
const IS_DUE = `t.state < 2 AND (t.worker IS NULL OR t.lease_until <= $1) AND (t.alone OR NOT EXISTS (
  SELECT 1 FROM task b WHERE b.context = t.context AND b.owner = t.owner AND b.context_id = t.context_id
    AND b.state < 2 AND NOT b.alone AND b.key <> t.key
    AND (b.lease_until > $1 OR (b.worker IS NULL, b.arrived) < (t.worker IS NULL, t.arrived))))`;

/** Whose tasks want a run, after `$1`: from owner to owner along the index, so that a long line of one costs the others nothing. */
const OWNERS = `
WITH RECURSIVE waiting AS (
  (SELECT owner, 1 AS nth FROM task WHERE state < 2 AND owner > $1 ORDER BY owner LIMIT 1)
  UNION ALL
  SELECT (SELECT t.owner FROM task t WHERE t.state < 2 AND t.owner > w.owner ORDER BY t.owner LIMIT 1), w.nth + 1
  FROM waiting w WHERE w.owner IS NOT NULL AND w.nth < $2
)
SELECT owner FROM waiting WHERE owner IS NOT NULL ORDER BY nth`;

/** Of these owners, `$4` each at most. */
const CANDIDATES = `
WITH due AS (
  SELECT t.*, o.tenant, row_number() OVER (PARTITION BY t.owner ORDER BY t.arrived) AS turn
  FROM owner o CROSS JOIN LATERAL (
    SELECT t.key, t.owner, t.context_id, t.alone, t.arrived FROM task t
    WHERE t.owner = o.id AND ${IS_DUE} ORDER BY t.arrived LIMIT $4
  ) AS t
  WHERE o.id = ANY($3) AND o.agent = ANY($2)
)
SELECT key, owner, context_id, alone, row_number() OVER (PARTITION BY tenant ORDER BY turn, arrived) AS place
FROM due ORDER BY place, arrived LIMIT $5`;

/** Only one node at a time chooses from the line of a context; then nobody can choose from an older picture of it. */
const LOCK_LINES =
  "SELECT key FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bool[]) AS c(key, owner, line, alone) " +
  "WHERE alone OR pg_try_advisory_xact_lock(owner, line)";

const CLAIM = `
WITH chosen AS (
  SELECT t.key, t.state, t.status_at FROM task t WHERE t.key = ANY($2::bigint[]) AND ${IS_DUE}
  ORDER BY t.key FOR UPDATE SKIP LOCKED
), begun AS (
  UPDATE task t SET
    worker = $3, lease_until = $1 + $4::bigint, seq = t.seq + 1, attempt = t.attempt + 1, state = 1,
    rev = CASE WHEN c.state = 0 THEN nextval('revision') ELSE t.rev END,
    xid = CASE WHEN c.state = 0 THEN pg_current_xact_id() ELSE t.xid END,
    status_at = CASE WHEN c.state = 0 THEN greatest($1, t.status_at) ELSE t.status_at END
  FROM chosen c WHERE t.key = c.key
  RETURNING t.key, t.id, t.seq, t.rev, t.attempt, c.state AS before, c.status_at AS due_at, greatest($1, c.status_at) AS at
), written AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT key, seq, CASE WHEN before = 0 THEN rev END, CASE WHEN before = 0 THEN pg_current_xact_id() END,
    '[[' || at || ',{"type":"started","attempt":' || attempt || '}]]' FROM begun
), rung AS (${RING_PUSHES("begun")})
SELECT key, id, attempt, before, due_at, key IN (SELECT task FROM rung) AS pushed FROM begun`;

const RENEW = `
WITH held AS MATERIALIZED (
  SELECT t.key FROM unnest($2::uuid[], $3::text[], $4::int[]) AS r(id, worker, attempt) JOIN task t ON t.id = r.id
  WHERE t.worker = r.worker AND t.attempt = r.attempt AND t.state = 1 ORDER BY t.key FOR UPDATE OF t
)
UPDATE task t SET lease_until = $1 FROM held WHERE t.key = held.key RETURNING t.id`;

const RUNNING = `
SELECT o.tenant, o.principal, count(*)::int AS runs FROM task t JOIN owner o ON o.id = t.owner
WHERE t.state < 2 AND t.worker IS NOT NULL AND t.lease_until > $1 GROUP BY 1, 2`;

const UNFINISHED =
  "SELECT o.agent, count(*)::int AS tasks FROM task t JOIN owner o ON o.id = t.owner WHERE t.state < 2 GROUP BY 1";
const WAITING = "SELECT count(*)::int AS tasks FROM task WHERE state < 2 AND worker IS NULL";

const OLDEST_DUE = `SELECT t.status_at AS at FROM task t WHERE t.worker IS NULL AND ${IS_DUE} ORDER BY t.arrived LIMIT 1`;

interface Begun {
  readonly key: number;
  readonly id: TaskId;
  readonly attempt: number;
  readonly before: number;
  readonly due_at: number;
  /** Somebody wants to be told of it. */
  readonly pushed: boolean;
}

/** Which tasks are due, for all nodes: whoever takes one holds it until its lease is not renewed. */
export class Runs {
  readonly #parts: RunParts;
  readonly #shares: NodeShares;
  #waiting = 0;
  /** When the first task in line that is due became so; undefined: none waits. */
  #oldestDueAt: number | undefined;
  /** The owner at which the last look for due tasks ended; 0: it saw all. */
  #place = 0;
  readonly #count: NodeJS.Timeout;
  readonly #renew: (run: Run) => Promise<boolean | undefined>;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#shares = new NodeShares(parts);
    this.#renew = createGather({ ask: runs => this.#renewAll(runs), keysMax: RENEW_MAX, atOnceMax: 1 });
    // How many wait is asked for at every send: near enough will do.
    this.#count = setInterval(() => void this.#countWaiting().catch(() => {}), WAITING_MS).unref();
  }

  async #countWaiting(): Promise<void> {
    const { db, now } = this.#parts;
    this.#waiting = (await db.query<{ tasks: number }>(WAITING))[0]?.tasks ?? 0;
    const oldest = this.#waiting > 0 ? await db.query<{ at: number }>(OLDEST_DUE, [now()]) : [];
    this.#oldestDueAt = oldest[0]?.at;
  }

  close(): void {
    clearInterval(this.#count);
  }

  readonly queue: RunQueue = {
    claim: (worker, agents, max, running = () => []) => this.#claim(worker, [...agents], max, running),
    renew: async run => (await this.#renew(run)) === true,
    release: async run => {
      await this.#parts.writer.append(run.scope, run.task.id, [{ type: "released" }], { run });
      this.#parts.onDue();
    },
    waiting: () => this.#waiting,
    heldMs: (scope, fullMs) => {
      // As long as other nodes take what is due, there is room in the cluster.
      const waitedMs = this.#oldestDueAt === undefined ? 0 : this.#parts.now() - this.#oldestDueAt;
      return Math.min(waitedMs, Math.max(fullMs, this.#shares.stalls.ms(scope)));
    },
    isHeld: () => !this.#shares.stalls.isEmpty,
    unfinished: async () => {
      const rows = await this.#parts.db.query<{ agent: AgentName; tasks: number }>(UNFINISHED);
      return new Map(rows.map(({ agent, tasks }) => [agent, tasks]));
    },
  };

  async #claim(
    worker: string,
    agents: readonly AgentName[],
    max: number,
    running: () => readonly Scope[],
  ): Promise<readonly Run[]> {
    const { owners, now } = this.#parts;
    for (let tries = 1; ; tries++) {
      const at = now();
      const found = await this.#find(agents, max * SCAN_FACTOR, at);
      await owners.learn(found.map(one => one.owner));
      const { begun, wanted } = await this.#take(found, worker, max, at, running);
      const runs = await this.#toRuns(begun, found, worker);
      if (runs.length > 0 || wanted === 0 || tries === CLAIM_TRIES_MAX) return runs;
      // What somebody else had his hand on may be free a moment later, and nobody would ring for it.
      await pause(tries * CLAIM_PAUSE_MS);
    }
  }

  /** What is due, of some owners and then of others: each look begins where the last one ended. */
  async #find(agents: readonly AgentName[], max: number, at: number): Promise<readonly Candidate[]> {
    const { db } = this.#parts;
    const found: Candidate[] = [];
    const begin = this.#place;
    for (let rounds = begin === 0 ? 1 : 0; rounds < 2; ) {
      const rows = await db.query<{ owner: number }>(OWNERS, [this.#place, OWNERS_MAX]);
      const owners = rows.map(row => row.owner);
      const each = Math.max(2, Math.ceil(max / owners.length));
      if (owners.length > 0)
        found.push(...(await db.query<Candidate>(CANDIDATES, [at, agents, owners, each, max])));
      const isEnd = owners.length < OWNERS_MAX;
      this.#place = isEnd ? 0 : (owners.at(-1) as number);
      if (found.length >= max || (rounds === 1 && this.#place >= begin && begin > 0)) break;
      if (isEnd) rounds += 1;
    }
    return found.slice(0, max);
  }

  /** Takes as many of these as are still free and within their quotas. */
  async #take(
    found: readonly Candidate[],
    worker: string,
    max: number,
    at: number,
    running: () => readonly Scope[],
  ): Promise<{ readonly begun: readonly Begun[]; readonly wanted: number }> {
    if (found.length === 0) this.#shares.stalls.clear();
    if (found.length === 0) return { begun: [], wanted: 0 };
    const done = this.#parts.commits?.begin();
    const taken = await this.#parts.db.transact(async on => {
      // Each node takes a share: others have hands as well, and whoever is done first takes of the rest.
      const share = Math.ceil(found.length / this.#parts.nodes());
      const may = this.#shares.within(
        await this.#withinQuota(on, found, at),
        one => this.#parts.owners.scopeOf(one.owner),
        running(),
      );
      const wanted = may.slice(0, Math.min(max, share));
      const lines = wanted.map(one => lineLock(one.owner, one.context_id));
      const free = await on.query<{ key: number }>(LOCK_LINES, [
        wanted.map(one => one.key),
        lines.map(line => line[0]),
        lines.map(line => line[1]),
        wanted.map(one => one.alone),
      ]);
      const keys = free.map(one => one.key);
      const begun = await on.query<Begun>(CLAIM, [at, keys, worker, this.#parts.leaseMs]);
      return { begun, wanted: wanted.length };
    });
    // That a run begins is an event as well.
    if (taken.begun.length > 0) done?.(taken.begun.length, taken.begun.length);
    return taken;
  }

  /** In the order of the candidates. */
  async #toRuns(
    begun: readonly Begun[],
    candidates: readonly Candidate[],
    worker: string,
  ): Promise<readonly Run[]> {
    if (begun.length === 0) return [];
    const { reader, onCommitted, onPushDue } = this.#parts;
    if (begun.some(one => one.pushed)) onPushDue();
    const known = await reader.findAll(begun.map(one => one.id));
    const byKey = new Map(begun.map(one => [one.key, one]));
    const runs: Run[] = [];
    for (const { key } of candidates) {
      const one = byKey.get(key);
      const task = one && known.get(one.id);
      if (!task) continue;
      onCommitted(task.taskId);
      this.#shares.stalls.go(task.scope);
      runs.push(toRun(task, one, worker));
    }
    return runs;
  }

  async #withinQuota(on: Asker, found: readonly Candidate[], at: number): Promise<readonly Candidate[]> {
    const { owners, runQuota } = this.#parts;
    const scopes = found.map(one => owners.scopeOf(one.owner));
    const isLimited = scopes.some(scope => Object.values(runQuota(scope)).some(Number.isFinite));
    if (!isLimited) return found;
    // Two who count at the same time would each see room for the last one.
    await on.query("SELECT pg_advisory_xact_lock($1)", [QUOTA_LOCK]);
    const counts = new Map<string, number>();
    const add = (key: string, by: number): void => void counts.set(key, (counts.get(key) ?? 0) + by);
    for (const { tenant, principal, runs } of await on.query<{
      tenant: string;
      principal: string;
      runs: number;
    }>(RUNNING, [at])) {
      add(tenant, runs);
      add(`${tenant}\n${principal}`, runs);
    }
    return found.filter(({ owner }) => {
      const scope = owners.scopeOf(owner);
      const caller = `${scope.tenant}\n${scope.principal}`;
      const quota = runQuota(scope);
      const over = overQuota(quota, counts.get(scope.tenant) ?? 0, counts.get(caller) ?? 0);
      if (over) this.#shares.stalls.stop(scope, over);
      if (over) return false;
      add(scope.tenant, 1);
      add(caller, 1);
      return true;
    });
  }

  async #renewAll(runs: readonly Run[]): Promise<ReadonlyMap<Run, boolean>> {
    const { db, now, leaseMs } = this.#parts;
    const rows = await db.query<{ id: TaskId }>(RENEW, [
      now() + leaseMs,
      runs.map(run => run.task.id),
      runs.map(run => run.worker),
      runs.map(run => run.attempt),
    ]);
    const held = new Set(rows.map(row => row.id));
    return new Map(runs.map(run => [run, held.has(run.task.id)]));
  }
}

const WAITING_MS = 1_000;
/** Owners of whom it is looked at once what is due. */
const OWNERS_MAX = 500;
/** Leases that are renewed at once. */
const RENEW_MAX = 1_000;
const CLAIM_TRIES_MAX = 5;
const CLAIM_PAUSE_MS = 5;
/** The number of "working". */
const WORKING = 1;

const toRun = (known: Known, { attempt, before, due_at: dueAt }: Begun, worker: string): Run => ({
  scope: known.scope,
  worker,
  attempt,
  afterCrash: before === WORKING,
  dueAt,
  task: known.task,
});
