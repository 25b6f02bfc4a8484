import { setTimeout as pause } from "node:timers/promises";
import type { AgentName, Scope, TaskId } from "../../model/index.ts";
import type { CommitObserver, Log, Run, RunQueue } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { createGather } from "./batch-reads.ts";
import type { Asker, Database } from "./database.ts";
import type { Owners } from "./owners.ts";
import type { Reader } from "./reader.ts";
import { countRuns, type RunCounts } from "./run-counts.ts";
import {
  CANDIDATES,
  CLAIM,
  LOCK_LINES,
  OLDEST_DUE,
  OWNERS,
  RENEW,
  TAKEN,
  UNFINISHED,
  WAITING,
  WAITING_OF,
} from "./run-sql.ts";
import { NodeShares, type SharesParts } from "./shares.ts";
import type { Known } from "./task-cache.ts";
import type { Writer } from "./writer.ts";

export interface RunParts extends SharesParts {
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
  readonly onCommitted: (taskId: TaskId) => void;
  readonly onDue: () => void;
  readonly onPushDue: () => void;
  readonly commits?: CommitObserver | undefined;
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
  #uncertain: UncertainClaim | undefined;
  /** Another look for due tasks, which no notification would bring about, and how many there were in a row. */
  #nextLook: NodeJS.Timeout | undefined;
  #looks = 0;
  #closed = false;
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
    const { db, wallTime } = this.#parts;
    this.#waiting = (await db.query<{ tasks: number }>(WAITING))[0]?.tasks ?? 0;
    const oldest = this.#waiting > 0 ? await db.query<{ at: number }>(OLDEST_DUE, [wallTime()]) : [];
    this.#oldestDueAt = oldest[0]?.at;
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
    claim: (worker, agents, max, running = () => []) =>
      this.#claim(worker, [...agents], max, running).catch(error => {
        this.#lookAgain();
        throw error;
      }),
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
    const { wallTime } = this.#parts;
    const taken = await this.#takenBefore(worker);
    if (taken.length > 0) return taken;
    for (let tries = 1; ; tries++) {
      const at = wallTime();
      const found = await this.#find(agents, max * SCAN_FACTOR, at, running);
      const runs = await this.#begin(found, worker, max, at, running);
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
    running: () => readonly Scope[],
  ): Promise<readonly Run[]> {
    try {
      return await this.#toRuns(await this.#take(found, worker, max, at, running), found, worker);
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
  async #find(
    agents: readonly AgentName[],
    max: number,
    at: number,
    running: () => readonly Scope[],
  ): Promise<readonly Candidate[]> {
    const { db } = this.#parts;
    const found: Candidate[] = [];
    let isHeld = false;
    const begin = this.#place;
    let counted: Promise<RunCounts> | undefined;
    const counts = (): Promise<RunCounts> => (counted ??= countRuns(db, at));
    for (let rounds = begin === 0 ? 1 : 0; rounds < 2; ) {
      const rows = await db.query<{ owner: number }>(OWNERS, [this.#place, OWNERS_MAX]);
      const ids = rows.map(row => row.owner);
      const owners = await this.#withRoom(ids, counts, running);
      isHeld ||= owners.length < ids.length;
      const each = Math.max(2, Math.ceil(max / owners.length));
      if (owners.length > 0)
        found.push(...(await db.query<Candidate>(CANDIDATES, [at, agents, owners, each, max])));
      const isEnd = rows.length < OWNERS_MAX;
      this.#place = isEnd ? 0 : (rows.at(-1)?.owner as number);
      if (found.length >= max || (rounds === 1 && this.#place >= begin && begin > 0)) break;
      if (isEnd) rounds += 1;
    }
    if (found.length === 0 && !isHeld) this.#shares.stalls.clear();
    return found.slice(0, max);
  }

  /** Takes as many of these as are still free and within their quotas. */
  async #take(
    found: readonly Candidate[],
    worker: string,
    max: number,
    at: number,
    running: () => readonly Scope[],
  ): Promise<readonly Begun[]> {
    if (found.length === 0) return [];
    const done = this.#parts.commits?.begin();
    const begun = await this.#parts.db.transact(async on => {
      // Each node takes a share: others have hands as well, and whoever is done first takes of the rest.
      const share = Math.ceil(found.length / this.#parts.nodes());
      const wanted = (await this.#within(on, found, at, running)).slice(0, Math.min(max, share));
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
      this.#shares.stalls.go(task.scope);
      runs.push(toRun(task, one, worker));
    }
    return runs;
  }

  /** Those of these owners that may have one more run: the others must not fill the page. */
  async #withRoom(
    ids: readonly number[],
    counts: () => Promise<RunCounts>,
    running: () => readonly Scope[],
  ): Promise<readonly number[]> {
    const { db, owners } = this.#parts;
    await owners.learn(ids);
    const room = this.#shares.open(this.#isLimited(ids) ? await counts() : undefined, running());
    if (!room) return ids;
    const held = ids.filter(id => room.boundOf(owners.scopeOf(id)) !== undefined);
    if (held.length === 0) return ids;
    for (const { owner } of await db.query<{ owner: number }>(WAITING_OF, [held]))
      room.stop(owners.scopeOf(owner));
    const isHeld = new Set(held);
    return ids.filter(id => !isHeld.has(id));
  }

  #isLimited(ids: readonly number[]): boolean {
    const { owners, runQuota } = this.#parts;
    return ids.some(id => Object.values(runQuota(owners.scopeOf(id))).some(Number.isFinite));
  }

  /** Those that may begin: within the quotas over all nodes, and within the shares of this one. */
  async #within(
    on: Asker,
    found: readonly Candidate[],
    at: number,
    running: () => readonly Scope[],
  ): Promise<readonly Candidate[]> {
    const { owners } = this.#parts;
    const isLimited = this.#isLimited(found.map(one => one.owner));
    // Two nodes that count at the same time would each see room for the last one.
    if (isLimited) await on.query("SELECT pg_advisory_xact_lock($1)", [QUOTA_LOCK]);
    const room = this.#shares.open(isLimited ? await countRuns(on, at) : undefined, running());
    return room ? found.filter(({ owner }) => room.take(owners.scopeOf(owner))) : found;
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
