import { ChurnMap } from "../lib/churn-map.ts";
import { Latch } from "../lib/latch.ts";
import { visitOverTurns } from "../lib/over-turns.ts";
import type { AgentName, Scope, TaskId } from "../model/index.ts";
import { type Agent, type Catalog, type LocalAgents, RUN_DUE, type Run } from "../ports/index.ts";
import type { ActiveRun } from "./active-run.ts";
import { RunExecutor } from "./run.ts";
import type { RunExecutorParts } from "./turn.ts";

export interface RunnerParts extends RunExecutorParts {
  readonly catalog: Catalog;
  readonly worker: string;
  readonly runsMax: number;
  readonly drainMs: number;
}

export interface Runner {
  readonly running: number;
  /** false: it no longer claims due tasks. */
  readonly isAlive: boolean;
  /** For how long the limit of runs has been reached, without a run that ended; 0: it is not reached. */
  readonly fullMs: number;
  /** Claims due tasks: the catalog has changed. */
  checkDue(): void;
  /** Claims no more, lets runs finish for a while, releases the rest. */
  stop(): Promise<void>;
}

const CLAIM_MAX = 64;
/** With so many runs, a node among several leaves new tasks to the queue, of which each node claims its share. */
const NEW_RUNS_MAX = 64;
/** So many renewals take about a millisecond. */
const RENEWALS_PER_TURN = 200;

/** Claims due tasks and runs them, up to the limit; new tasks also before their first commit. */
export function createRunner(parts: RunnerParts): Runner {
  const { store, bus, catalog, log } = parts;
  const due = new Latch();
  bus.subscribe(RUN_DUE, due);
  const running = new ChurnMap<TaskId, ActiveRun>();
  /** Runs that wait for another agent of this server: they leave their place to it, or both would wait forever. */
  let waiting = 0;
  const executorParts: RunExecutorParts = { ...parts, agents: scope => leavingPlace(parts.agents(scope)) };
  let isStopped = false;
  let isAlive = true;
  /** When the limit was reached; undefined: it is not. */
  let fullAt: number | undefined;
  /** Slots that the current claim may fill. */
  let claimable = 0;
  /** Due tasks may wait for a slot: since the start, or since the limit was reached, no claim has found none. */
  let isBehind = true;
  let onIdle = (): void => {};

  async function loop(): Promise<void> {
    while (!isStopped) {
      const begun = await claim().catch(error => {
        log.error({ err: error }, "due tasks could not be claimed");
        return 0;
      });
      if (begun === 0 && !isStopped) await due.wait();
    }
  }

  /** Begins the runs of due tasks, and returns their number. */
  async function claim(): Promise<number> {
    claimable = Math.max(0, Math.min(freeSlots(), CLAIM_MAX));
    if (claimable === 0) return 0;
    const at = parts.ticks();
    try {
      const runs = await store.runs.claim(parts.worker, catalog.names(), claimable, runningScopes);
      if (runs.length === 0) isBehind = false;
      for (const run of runs) begin(run, at);
      return runs.length;
    } finally {
      claimable = 0;
    }
  }

  /** Whether a new task may begin before it is in the queue. It must not overtake due tasks that wait for a slot. */
  function acceptsNew(agent: AgentName): boolean {
    if (isStopped || isBehind || freeSlots() <= claimable) return false;
    return catalog.find(agent) !== undefined && (running.size < NEW_RUNS_MAX || store.nodes() === 1);
  }

  const runningScopes = (): readonly Scope[] => Array.from(running.values(), ({ run }) => run.scope);

  function begin(run: Run, claimedAt: number, recorded?: Promise<void>): void {
    const agent = catalog.find(run.task.agent) as Agent;
    running.set(run.task.id, new RunExecutor(executorParts, run, agent, { claimedAt, recorded }, end));
    if (freeSlots() > 0) return;
    fullAt = parts.ticks();
    isBehind = true;
  }

  function end(active: ActiveRun): void {
    const wasFull = freeSlots() <= 0;
    if (running.get(active.run.task.id) === active) running.delete(active.run.task.id);
    if (wasFull) fullAt = undefined;
    if (wasFull || store.runs.hasBlocked()) due.wake();
    if (running.size === 0) onIdle();
  }

  const freeSlots = (): number => parts.runsMax + waiting - running.size;

  const leavingPlace = (agents: LocalAgents): LocalAgents => ({
    ...agents,
    async *read(turn, signal) {
      waiting += 1;
      fullAt = undefined;
      due.wake();
      try {
        yield* agents.read(turn, signal);
      } finally {
        waiting -= 1;
      }
    },
  });

  const idle = (): Promise<void> =>
    new Promise(resolve => {
      if (running.size === 0) resolve();
      else onIdle = resolve;
    });

  async function renew(active: ActiveRun): Promise<void> {
    if (running.get(active.run.task.id) !== active) return;
    await active.renew();
    // In case a notification was lost.
    active.wake();
  }

  async function heartbeat(): Promise<void> {
    setHeartbeat();
    const renewals: Promise<void>[] = [];
    const errors: unknown[] = [];
    await visitOverTurns([...running.values()], RENEWALS_PER_TURN, active =>
      renewals.push(renew(active).catch(error => void errors.push(error))),
    );
    await Promise.all(renewals);
    if (errors.length > 0) log.error({ err: errors[0], count: errors.length }, "leases could not be renewed");
    // Also if a renewal failed: a notification of a due task may have been lost.
    due.wake();
  }

  store.runs.setStarter({
    worker: parts.worker,
    accepts: acceptsNew,
    running: runningScopes,
    start: (run, recorded) => begin(run, parts.ticks(), recorded),
  });
  let clearHeartbeat = (): void => {};
  function setHeartbeat(): void {
    clearHeartbeat = parts.timers.after(parts.leaseMs / 3, () => void heartbeat(), "poll");
  }
  setHeartbeat();
  const looped = loop()
    .catch(error => log.error({ err: error }, "the runner has stopped"))
    .finally(() => (isAlive = false));

  return {
    get running() {
      return running.size;
    },
    get isAlive() {
      return isAlive;
    },
    get fullMs() {
      return fullAt === undefined ? 0 : parts.ticks() - fullAt;
    },
    checkDue: () => due.wake(),
    async stop() {
      isStopped = true;
      due.wake();
      await looped;
      await waitAtMost(idle(), parts.drainMs);
      for (const active of running.values()) active.stop("shutdown");
      await idle();
      clearHeartbeat();
      bus.unsubscribe(RUN_DUE, due);
    },
  };
}

async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
