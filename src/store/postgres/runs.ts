import { setTimeout as pause } from "node:timers/promises";
import type { AgentName, Scope, TaskId } from "../../model/index.ts";
import type { CommitWatch, Log, Run, RunQueue } from "../../ports.ts";
import type { RunQuota } from "../hot/queue.ts";
import { contextKey } from "../rows/keys.ts";
import type { Asker, Database } from "./database.ts";
import { createGather } from "./gather.ts";
import type { Known } from "./known.ts";
import type { Owners } from "./owners.ts";
import { RING_PUSHES } from "./pushes.ts";
import type { Reader } from "./reader.ts";
import { addRuns, callerKey, countRuns, type RunCounts } from "./run-counts.ts";
import { leaseTime } from "./set-back.ts";
import type { Writer } from "./writer.ts";

export interface RunParts {
  readonly db: Database;
  readonly owners: Owners;
  readonly reader: Reader;
  readonly writer: Writer;
  /** Event time. */
  readonly now: () => number;
  /** Leases end by it. */
  readonly wallTime: () => number;
  readonly leaseMs: number;
  /** How many nodes there are. */
  readonly nodes: () => number;
  readonly runQuota: (scope: Scope) => RunQuota;
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
  readonly state: number;
  readonly status_at: number;
}

/** A claim of which it is not known whether it was committed. */
interface UncertainClaim {
  readonly candidates: readonly Candidate[];
  readonly leaseUntil: number;
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
const IS_DUE = `t.state < 2 AND (t.worker IS NULL OR t.lease_until <= ${leaseTime("$1")}) AND (t.alone OR NOT EXISTS (
  SELECT 1 FROM task b WHERE b.context = t.context AND b.owner = t.owner AND b.context_id = t.context_id
    AND b.state < 2 AND NOT b.alone AND b.key <> t.key
    AND (b.lease_until > ${leaseTime("$1")} OR (b.worker IS NULL, b.arrived) < (t.worker IS NULL, t.arrived))))`;

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
    SELECT t.key, t.owner, t.context_id, t.alone, t.arrived, t.state, t.status_at FROM task t
    WHERE t.owner = o.id AND ${IS_DUE} ORDER BY t.arrived LIMIT $4
  ) AS t
  WHERE o.id = ANY($3) AND o.agent = ANY($2)
)
SELECT key, owner, context_id, alone, state, status_at, row_number() OVER (PARTITION BY tenant ORDER BY turn, arrived) AS place
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
    worker = $3, lease_until = $1::bigint + $4::bigint, seq = t.seq + 1, attempt = t.attempt + 1, state = 1,
    rev = CASE WHEN c.state = 0 THEN nextval('revision') ELSE t.rev END,
    xid = CASE WHEN c.state = 0 THEN pg_current_xact_id() ELSE t.xid END,
    status_at = CASE WHEN c.state = 0 THEN greatest($5::bigint, t.status_at) ELSE t.status_at END
  FROM chosen c WHERE t.key = c.key
  RETURNING t.key, t.id, t.seq, t.rev, t.attempt, c.state AS before, c.status_at AS due_at, greatest($5::bigint, c.status_at) AS at
), written AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT key, seq, CASE WHEN before = 0 THEN rev END, CASE WHEN before = 0 THEN pg_current_xact_id() END,
    '[[' || at || ',{"type":"started","attempt":' || attempt || '}]]' FROM begun
), rung AS (${RING_PUSHES("begun")})
SELECT key, id, attempt, before, due_at, key IN (SELECT task FROM rung) AS pushed FROM begun`;

/** Of these candidates, those that a claim with this lease took. */
const TAKEN =
  "SELECT key, id, attempt FROM task WHERE key = ANY($1) AND worker = $2 AND lease_until = $3 AND state = 1";

const RENEW = `
WITH held AS MATERIALIZED (
  SELECT t.key FROM unnest($2::uuid[], $3::text[], $4::int[]) AS r(id, worker, attempt) JOIN task t ON t.id = r.id
  WHERE t.worker = r.worker AND t.attempt = r.attempt AND t.state = 1 ORDER BY t.key FOR UPDATE OF t
)
UPDATE task t SET lease_until = $1 FROM held WHERE t.key = held.key RETURNING t.id`;

const UNFINISHED =
  "SELECT o.agent, count(*)::int AS tasks FROM task t JOIN owner o ON o.id = t.owner WHERE t.state < 2 GROUP BY 1";
const WAITING = "SELECT count(*)::int AS tasks FROM task WHERE state < 2 AND worker IS NULL";

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
  #waiting = 0;
  /** The owner at which the last look for due tasks ended; 0: it saw all. */
  #place = 0;
  #uncertain: UncertainClaim | undefined;
  /** Another look for due tasks, which no notification would bring about, and how many there were in a row. */
  #nextLook: NodeJS.Timeout | undefined;
  #looks = 0;
  #closed = false;
  readonly #count: NodeJS.Timeout;
  readonly #renew: (run: Run) => Promise<boolean | undefined>;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#renew = createGather({ ask: runs => this.#renewAll(runs), keysMax: RENEW_MAX, atOnceMax: 1 });
    // How many wait is asked for at every send: near enough will do.
    this.#count = setInterval(() => void this.#countWaiting().catch(() => {}), WAITING_MS).unref();
  }

  async #countWaiting(): Promise<void> {
    this.#waiting = (await this.#parts.db.query<{ tasks: number }>(WAITING))[0]?.tasks ?? 0;
  }

  close(): void {
    clearInterval(this.#count);
    clearTimeout(this.#nextLook);
    this.#closed = true;
  }

  #lookAgain(): void {
    if (this.#nextLook || this.#closed) return;
    const ms = Math.min(LOOK_AGAIN_MS * 2 ** this.#looks++, LOOK_AGAIN_MS_MAX);
    this.#nextLook = setTimeout(() => {
      this.#nextLook = undefined;
      this.#parts.onDue();
    }, ms).unref();
  }

  readonly queue: RunQueue = {
    claim: (worker, agents, max) =>
      this.#claim(worker, [...agents], max).catch(error => {
        this.#lookAgain();
        throw error;
      }),
    renew: async run => (await this.#renew(run)) === true,
    release: async run => {
      await this.#parts.writer.append(run.scope, run.task.id, [{ type: "released" }], { run });
      this.#parts.onDue();
    },
    waiting: () => this.#waiting,
    unfinished: async () => {
      const rows = await this.#parts.db.query<{ agent: AgentName; tasks: number }>(UNFINISHED);
      return new Map(rows.map(({ agent, tasks }) => [agent, tasks]));
    },
  };

  async #claim(worker: string, agents: readonly AgentName[], max: number): Promise<readonly Run[]> {
    const { wallTime } = this.#parts;
    const taken = await this.#takenBefore(worker);
    if (taken.length > 0) return taken;
    for (let tries = 1; ; tries++) {
      const at = wallTime();
      const found = await this.#find(agents, max * SCAN_FACTOR, at);
      const runs = await this.#begin(found, worker, max, at);
      if (runs.length > 0 || found.length === 0) {
        this.#looks = 0;
        return runs;
      }
      // A row or a line that was locked may be free a moment later, and no notification would tell.
      if (tries === CLAIM_TRIES_MAX) {
        this.#lookAgain();
        return runs;
      }
      await pause(tries * CLAIM_PAUSE_MS);
    }
  }

  async #begin(
    found: readonly Candidate[],
    worker: string,
    max: number,
    at: number,
  ): Promise<readonly Run[]> {
    try {
      return await this.#toRuns(await this.#take(found, worker, max, at), found, worker);
    } catch (error) {
      this.#uncertain = { candidates: found, leaseUntil: at + this.#parts.leaseMs };
      throw error;
    }
  }

  /** Runs of an earlier claim that was committed, but whose answer was lost, or whose tasks could not be read. */
  async #takenBefore(worker: string): Promise<readonly Run[]> {
    if (!this.#uncertain) return [];
    const { candidates, leaseUntil } = this.#uncertain;
    // A lease that is over is not renewed: the task is due for all nodes.
    const isHeld = this.#parts.wallTime() < leaseUntil;
    const keys = candidates.map(one => one.key);
    const rows = isHeld ? await this.#parts.db.query<Begun>(TAKEN, [keys, worker, leaseUntil]) : [];
    const byKey = new Map(candidates.map(one => [one.key, one]));
    const begun = rows.map(row => {
      const { state, status_at } = byKey.get(row.key) as Candidate;
      return { ...row, before: state, due_at: status_at, pushed: true };
    });
    const runs = await this.#toRuns(begun, candidates, worker);
    this.#uncertain = undefined;
    return runs;
  }

  /** What is due, of some owners and then of others: each look begins where the last one ended. */
  async #find(agents: readonly AgentName[], max: number, at: number): Promise<readonly Candidate[]> {
    const { db } = this.#parts;
    const found: Candidate[] = [];
    const begin = this.#place;
    let counted: Promise<RunCounts> | undefined;
    const counts = (): Promise<RunCounts> => (counted ??= countRuns(db, at));
    for (let rounds = begin === 0 ? 1 : 0; rounds < 2; ) {
      const rows = await db.query<{ owner: number }>(OWNERS, [this.#place, OWNERS_MAX]);
      const owners = await this.#withRoom(rows, counts);
      const each = Math.max(2, Math.ceil(max / owners.length));
      if (owners.length > 0)
        found.push(...(await db.query<Candidate>(CANDIDATES, [at, agents, owners, each, max])));
      const isEnd = rows.length < OWNERS_MAX;
      this.#place = isEnd ? 0 : (rows.at(-1)?.owner as number);
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
  ): Promise<readonly Begun[]> {
    if (found.length === 0) return [];
    const done = this.#parts.commits?.begin();
    const begun = await this.#parts.db.transact(async on => {
      // Each node takes a share: others have hands as well, and whoever is done first takes of the rest.
      const share = Math.ceil(found.length / this.#parts.nodes());
      const wanted = (await this.#withinQuota(on, found, at)).slice(0, Math.min(max, share));
      const lines = wanted.map(one => lineLock(one.owner, one.context_id));
      const free = await on.query<{ key: number }>(LOCK_LINES, [
        wanted.map(one => one.key),
        lines.map(line => line[0]),
        lines.map(line => line[1]),
        wanted.map(one => one.alone),
      ]);
      const keys = free.map(one => one.key);
      return on.query<Begun>(CLAIM, [at, keys, worker, this.#parts.leaseMs, this.#parts.now()]);
    });
    // That a run begins is an event as well.
    if (begun.length > 0) done?.(begun.length, begun.length);
    return begun;
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
      runs.push(toRun(task, one, worker));
    }
    return runs;
  }

  /** Those of these owners that may have one more run: the others must not fill the page. */
  async #withRoom(
    rows: readonly { readonly owner: number }[],
    counts: () => Promise<RunCounts>,
  ): Promise<readonly number[]> {
    const { owners } = this.#parts;
    const ids = rows.map(row => row.owner);
    await owners.learn(ids);
    if (!this.#isLimited(ids)) return ids;
    const counted = await counts();
    return ids.filter(id => this.#hasRoom(counted, owners.scopeOf(id)));
  }

  #isLimited(ids: readonly number[]): boolean {
    const { owners, runQuota } = this.#parts;
    return ids.some(id => Object.values(runQuota(owners.scopeOf(id))).some(Number.isFinite));
  }

  #hasRoom(counts: RunCounts, scope: Scope): boolean {
    const { tenant, caller } = this.#parts.runQuota(scope);
    return (counts.get(scope.tenant) ?? 0) < tenant && (counts.get(callerKey(scope)) ?? 0) < caller;
  }

  async #withinQuota(on: Asker, found: readonly Candidate[], at: number): Promise<readonly Candidate[]> {
    const { owners } = this.#parts;
    if (!this.#isLimited(found.map(one => one.owner))) return found;
    // Two who count at the same time would each see room for the last one.
    await on.query("SELECT pg_advisory_xact_lock($1)", [QUOTA_LOCK]);
    const counts = await countRuns(on, at);
    return found.filter(({ owner }) => {
      const scope = owners.scopeOf(owner);
      const hasRoom = this.#hasRoom(counts, scope);
      if (hasRoom) addRuns(counts, scope, 1);
      return hasRoom;
    });
  }

  async #renewAll(runs: readonly Run[]): Promise<ReadonlyMap<Run, boolean>> {
    const { db, wallTime, leaseMs } = this.#parts;
    const rows = await db.query<{ id: TaskId }>(RENEW, [
      wallTime() + leaseMs,
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
/** After a look that found tasks locked, or failed; doubled each time in a row. */
const LOOK_AGAIN_MS = 50;
const LOOK_AGAIN_MS_MAX = 2_000;
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
