import { setTimeout as pause } from "node:timers/promises";
import type { AgentName, Scope, TaskId } from "../../model/index.ts";
import type { Run, RunQueue } from "../../ports/index.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { createBatcher } from "./batcher.ts";
import type { Database, Queryable } from "./database.ts";
import type { NewRuns } from "./new-runs.ts";
import type { OwnerIds } from "./owners.ts";
import type { TaskReader } from "./reader.ts";
import { countRuns, type RunCounts, type RunLimits } from "./run-limits.ts";
import {
  CANDIDATES,
  type Candidate,
  CLAIM,
  CLAIMED,
  contextLock,
  LOCK_CONTEXTS,
  OLDEST_DUE,
  OWNERS,
  RENEW,
  UNFINISHED,
  WAITING,
  WAITING_OWNERS,
} from "./run-sql.ts";
import type { LogWriter } from "./writer.ts";

export interface RunQueueParts
  extends Pick<
    StoreParts,
    "now" | "wallTime" | "leaseMs" | "onCommitted" | "onDue" | "onPushDue" | "commits" | "runQuota"
  > {
  readonly db: Database;
  readonly owners: OwnerIds;
  readonly reader: TaskReader;
  readonly writer: LogWriter;
  readonly limits: RunLimits;
  readonly newRuns: NewRuns;
  readonly countNodes: () => number;
}

/** The advisory lock under which runs are counted where there are quotas. */
const QUOTA_LOCK = 0x4452474e;
/** Candidates that are read for each run that is wanted: some may be over a limit, or locked. */
const SCAN_FACTOR = 4;
const COUNT_WAITING_MS = 1_000;
/** Owners whose due tasks are read in one query. */
const OWNERS_MAX = 500;
/** Leases that are renewed in one statement. */
const RENEW_MAX = 1_000;
const CLAIM_TRIES_MAX = 5;
const CLAIM_PAUSE_MS = 5;
/** The delay after a claim that found tasks locked, or failed; doubled each time in a row. */
const RETRY_MS = 50;
const RETRY_MS_MAX = 2_000;
/** The number of the state "working". */
const WORKING = 1;

interface ClaimRequest {
  readonly worker: string;
  readonly agents: readonly AgentName[];
  readonly max: number;
  readonly running: () => readonly Scope[];
}

interface ClaimedTask {
  readonly key: number;
  readonly id: TaskId;
  readonly attempt: number;
  /** The number of its state before. */
  readonly before: number;
  readonly due_at: number;
  /** Of the event that was recorded; undefined: not known. */
  readonly seq?: number;
  readonly at?: number;
  /** A push config of the task is live. */
  readonly pushed: boolean;
}

/** A claim that may or may not have been committed. */
interface UncertainClaim {
  readonly candidates: readonly Candidate[];
  readonly leaseUntil: number;
}

/** The due tasks of all nodes. A node that claims a task holds it until its lease expires without a renewal. */
export class PostgresRunQueue {
  readonly #parts: RunQueueParts;
  readonly #limits: RunLimits;
  #waiting = 0;
  /** When the first task in the queue that is due became so; undefined: no task waits. */
  #oldestDueAt: number | undefined;
  /** The owner at which the last search for due tasks ended; 0: it covered all owners. */
  #lastOwner = 0;
  /** The tenant of the task that was claimed last, and the number of searches: both decide who comes first in the next. */
  #lastTenant = "";
  #searches = 0;
  #uncertain: UncertainClaim | undefined;
  /** Another claim that no notification would cause, and how many there were in a row. */
  #retryTimer: NodeJS.Timeout | undefined;
  #retries = 0;
  #isClosed = false;
  readonly #countTimer: NodeJS.Timeout;
  readonly #renew: (run: Run) => Promise<boolean | undefined>;

  constructor(parts: RunQueueParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#renew = createBatcher({
      load: runs => this.#renewAll(runs),
      batchMax: RENEW_MAX,
      concurrencyMax: 1,
    });
    // Every send asks how many tasks wait: an approximate number is enough.
    this.#countTimer = setInterval(() => void this.#countWaiting().catch(() => {}), COUNT_WAITING_MS).unref();
  }

  async #countWaiting(): Promise<void> {
    const { db, wallTime } = this.#parts;
    this.#waiting = (await db.query<{ tasks: number }>(WAITING))[0]?.tasks ?? 0;
    const oldest = this.#waiting > 0 ? await db.query<{ at: number }>(OLDEST_DUE, [wallTime()]) : [];
    this.#oldestDueAt = oldest[0]?.at;
  }

  close(): void {
    clearInterval(this.#countTimer);
    clearTimeout(this.#retryTimer);
    this.#isClosed = true;
  }

  #scheduleRetry(): void {
    if (this.#retryTimer || this.#isClosed) return;
    const ms = Math.min(RETRY_MS * 2 ** this.#retries++, RETRY_MS_MAX);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#parts.onDue();
    }, ms).unref();
  }

  readonly queue: RunQueue = {
    claim: (worker, agents, max, running = () => []) =>
      this.#claim({ worker, agents: [...agents], max, running }).catch(error => {
        this.#scheduleRetry();
        throw error;
      }),
    setStarter: starter => this.#parts.newRuns.setStarter(starter),
    renew: async run => (await this.#renew(run)) === true,
    release: async run => {
      await this.#parts.writer.append(run.scope, run.task.id, [{ type: "released" }], { run });
      this.#parts.onDue();
    },
    waiting: () => this.#waiting,
    blockedMs: (scope, fullMs) => {
      // As long as other nodes claim due tasks, the cluster has capacity.
      const waitedMs = this.#oldestDueAt === undefined ? 0 : this.#parts.now() - this.#oldestDueAt;
      return Math.min(waitedMs, Math.max(fullMs, this.#limits.stalls.ms(scope)));
    },
    hasBlocked: () => !this.#limits.stalls.isEmpty,
    unfinished: async () => {
      const rows = await this.#parts.db.query<{ agent: AgentName; tasks: number }>(UNFINISHED);
      return new Map(rows.map(({ agent, tasks }) => [agent, tasks]));
    },
  };

  async #claim(request: ClaimRequest): Promise<readonly Run[]> {
    const recovered = await this.#recoverClaim(request.worker);
    if (recovered.length > 0) return recovered;
    for (let tries = 1; ; tries++) {
      const at = this.#parts.wallTime();
      const candidates = await this.#findCandidates(request, at);
      const runs = await this.#claimCandidates(candidates, request, at);
      if (runs.length > 0 || candidates.length === 0) {
        this.#retries = 0;
        return runs;
      }
      // A row or a context that was locked may be free a moment later, and no notification would tell.
      if (tries === CLAIM_TRIES_MAX) {
        this.#scheduleRetry();
        return runs;
      }
      await pause(tries * CLAIM_PAUSE_MS);
    }
  }

  async #claimCandidates(
    candidates: readonly Candidate[],
    request: ClaimRequest,
    at: number,
  ): Promise<readonly Run[]> {
    try {
      const claimed = await this.#commitClaim(candidates, request, at);
      return await this.#toRuns(claimed, candidates, request.worker);
    } catch (error) {
      this.#uncertain = { candidates, leaseUntil: at + this.#parts.leaseMs };
      throw error;
    }
  }

  /** Runs of an earlier claim that was committed, but whose response was lost, or whose tasks could not be read. */
  async #recoverClaim(worker: string): Promise<readonly Run[]> {
    if (!this.#uncertain) return [];
    const { candidates, leaseUntil } = this.#uncertain;
    // An expired lease is not renewed: the task is due for all nodes.
    const isHeld = this.#parts.wallTime() < leaseUntil;
    const keys = candidates.map(({ key }) => key);
    const rows = isHeld ? await this.#parts.db.query<ClaimedTask>(CLAIMED, [keys, worker, leaseUntil]) : [];
    const byKey = new Map(candidates.map(candidate => [candidate.key, candidate]));
    const claimed = rows.map(row => {
      const { state, status_at } = byKey.get(row.key) as Candidate;
      return { ...row, before: state, due_at: status_at, pushed: true };
    });
    const runs = await this.#toRuns(claimed, candidates, worker);
    this.#uncertain = undefined;
    return runs;
  }

  /** Due tasks, from one page of owners to the next: each search begins at the owner where the last one ended. */
  async #findCandidates({ agents, max, running }: ClaimRequest, at: number): Promise<readonly Candidate[]> {
    const { db } = this.#parts;
    const wanted = max * SCAN_FACTOR;
    const found: Candidate[] = [];
    let isAnyOverLimit = false;
    const start = this.#lastOwner;
    let counted: Promise<RunCounts> | undefined;
    const counts = (): Promise<RunCounts> => (counted ??= countRuns(db, at));
    for (let rounds = start === 0 ? 1 : 0; rounds < 2; ) {
      const rows = await db.query<{ owner: number }>(OWNERS, [this.#lastOwner, OWNERS_MAX]);
      const ids = rows.map(row => row.owner);
      const owners = await this.#withinLimits(ids, counts, running);
      isAnyOverLimit ||= owners.length < ids.length;
      const each = Math.max(2, Math.ceil(wanted / owners.length));
      if (owners.length > 0) found.push(...(await this.#findDue([at, agents, owners, each, wanted])));
      const isEnd = rows.length < OWNERS_MAX;
      this.#lastOwner = isEnd ? 0 : (rows.at(-1)?.owner as number);
      if (found.length >= wanted || (rounds === 1 && this.#lastOwner >= start && start > 0)) break;
      if (isEnd) rounds += 1;
    }
    if (found.length === 0 && !isAnyOverLimit) this.#limits.stalls.clear();
    return found.slice(0, wanted);
  }

  #findDue(values: readonly unknown[]): Promise<readonly Candidate[]> {
    return this.#parts.db.query<Candidate>(CANDIDATES, [...values, this.#lastTenant, this.#searches++]);
  }

  /** Claims the candidates that are still due and within the limits. */
  async #commitClaim(
    candidates: readonly Candidate[],
    { worker, max, running }: ClaimRequest,
    at: number,
  ): Promise<readonly ClaimedTask[]> {
    if (candidates.length === 0) return [];
    const { db, commits, countNodes, leaseMs, now } = this.#parts;
    const onCommit = commits?.startCommit();
    const claimed = await db.transact(async tx => {
      // Each node claims its share of the due tasks, and the first one with capacity left claims of the rest.
      const share = Math.ceil(candidates.length / countNodes());
      const allowed = (await this.#takeAllowed(tx, candidates, at, running)).slice(0, Math.min(max, share));
      const locks = allowed.map(({ owner, context_id }) => contextLock(owner, context_id));
      const locked = await tx.query<{ key: number }>(LOCK_CONTEXTS, [
        allowed.map(({ key }) => key),
        locks.map(([owner]) => owner),
        locks.map(([, context]) => context),
        allowed.map(({ alone }) => alone),
      ]);
      const keys = locked.map(({ key }) => key);
      return tx.query<ClaimedTask>(CLAIM, [at, keys, worker, leaseMs, now()]);
    });
    // Each claim records an event.
    if (claimed.length > 0) onCommit?.(claimed.length, claimed.length);
    return claimed;
  }

  /** In the order of the candidates. */
  async #toRuns(
    claimed: readonly ClaimedTask[],
    candidates: readonly Candidate[],
    worker: string,
  ): Promise<readonly Run[]> {
    if (claimed.length === 0) return [];
    const { reader, onCommitted, onPushDue } = this.#parts;
    if (claimed.some(({ pushed }) => pushed)) onPushDue();
    const tasks = await reader.readStarted(claimed);
    const byKey = new Map(claimed.map(row => [row.key, row]));
    const runs: Run[] = [];
    for (const { key } of candidates) {
      const row = byKey.get(key);
      const cached = row && tasks.get(row.id);
      if (!cached) continue;
      const { taskId, scope, task } = cached;
      onCommitted(taskId);
      this.#limits.stalls.end(scope);
      this.#lastTenant = scope.tenant;
      const { attempt, before, due_at: dueAt } = row;
      runs.push({ scope, worker, attempt, afterCrash: before === WORKING, dueAt, task });
    }
    return runs;
  }

  /** The owners that may have one more run: the others must not fill the page. */
  async #withinLimits(
    ids: readonly number[],
    counts: () => Promise<RunCounts>,
    running: () => readonly Scope[],
  ): Promise<readonly number[]> {
    const { db, owners } = this.#parts;
    await owners.load(ids);
    const allowance = this.#limits.createAllowance(
      this.#hasQuota(ids) ? await counts() : undefined,
      running(),
    );
    if (!allowance) return ids;
    const overLimit = new Set(ids.filter(id => allowance.findLimit(owners.scopeOf(id)) !== undefined));
    if (overLimit.size === 0) return ids;
    for (const { owner } of await db.query<{ owner: number }>(WAITING_OWNERS, [[...overLimit]]))
      allowance.recordStall(owners.scopeOf(owner));
    return ids.filter(id => !overLimit.has(id));
  }

  #hasQuota(ids: readonly number[]): boolean {
    const { owners, runQuota } = this.#parts;
    return ids.some(id => Object.values(runQuota(owners.scopeOf(id))).some(Number.isFinite));
  }

  /** The candidates that may begin: within the quotas over all nodes, and within the shares of this node. */
  async #takeAllowed(
    tx: Queryable,
    candidates: readonly Candidate[],
    at: number,
    running: () => readonly Scope[],
  ): Promise<readonly Candidate[]> {
    const { owners } = this.#parts;
    const hasQuota = this.#hasQuota(candidates.map(({ owner }) => owner));
    // Without the lock, two nodes that count at the same time would both take the last free run of a quota.
    if (hasQuota) await tx.query("SELECT pg_advisory_xact_lock($1)", [QUOTA_LOCK]);
    const allowance = this.#limits.createAllowance(hasQuota ? await countRuns(tx, at) : undefined, running());
    return allowance ? candidates.filter(({ owner }) => allowance.take(owners.scopeOf(owner))) : candidates;
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
