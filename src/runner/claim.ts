import { ChurnMap } from "../lib/churn-map.ts";
import { Latch } from "../lib/latch.ts";
import type { Scope, TaskId } from "../model/index.ts";
import { type Agent, type Catalog, RUN_DUE, type Run } from "../ports/index.ts";
import { type ActiveRun, RunExecutor, type RunExecutorParts } from "./run.ts";

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

/** Claims due tasks and runs them, up to the limit. */
export function createRunner(parts: RunnerParts): Runner {
  const { store, bus, catalog, log } = parts;
  const due = new Latch();
  bus.subscribe(RUN_DUE, due);
  const running = new ChurnMap<TaskId, ActiveRun>();
  let isStopped = false;
  let isAlive = true;
  /** When the limit was reached; undefined: it is not. */
  let fullAt: number | undefined;
  let onIdle = (): void => {};

  async function loop(): Promise<void> {
    while (!isStopped) {
      const at = parts.ticks();
      const runs = await claim().catch(error => {
        log.error({ err: error }, "due tasks could not be claimed");
        return [];
      });
      for (const run of runs) begin(run, at);
      if (runs.length === 0 && !isStopped) await due.wait();
    }
  }

  function claim(): Promise<readonly Run[]> {
    const room = Math.min(parts.runsMax - running.size, CLAIM_MAX);
    return room > 0
      ? store.runs.claim(parts.worker, catalog.names(), room, runningScopes)
      : Promise.resolve([]);
  }

  const runningScopes = (): readonly Scope[] => Array.from(running.values(), ({ run }) => run.scope);

  function begin(run: Run, claimedAt: number): void {
    const agent = catalog.find(run.task.agent) as Agent;
    running.set(run.task.id, new RunExecutor(parts, run, agent, claimedAt, end));
    if (running.size >= parts.runsMax) fullAt = parts.ticks();
  }

  function end(active: ActiveRun): void {
    const wasFull = running.size >= parts.runsMax;
    if (running.get(active.run.task.id) === active) running.delete(active.run.task.id);
    if (wasFull) fullAt = undefined;
    if (wasFull || store.runs.hasBlocked()) due.wake();
    if (running.size === 0) onIdle();
  }

  const idle = (): Promise<void> =>
    new Promise(resolve => {
      if (running.size === 0) resolve();
      else onIdle = resolve;
    });

  async function heartbeat(): Promise<void> {
    try {
      await Promise.all(
        Array.from(running.values(), async active => {
          await active.renew();
          // In case a notification was lost.
          active.wake();
        }),
      );
    } catch (error) {
      log.error({ err: error }, "leases could not be renewed");
    }
    // Also if a renewal failed: a notification of a due task may have been lost.
    due.wake();
  }

  const heart = setInterval(heartbeat, parts.leaseMs / 3);
  heart.unref();
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
      clearInterval(heart);
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
