import { ChurnMap } from "../lib/churn-map.ts";
import { Latch } from "../lib/latch.ts";
import type { Scope, TaskId } from "../model/index.ts";
import { type Agent, type Catalog, DUE, type Run } from "../ports/index.ts";
import { Drive, type Driven, type DriveParts } from "./run.ts";

export interface RunnerParts extends DriveParts {
  readonly catalog: Catalog;
  readonly worker: string;
  readonly runsMax: number;
  readonly drainMs: number;
  readonly ticks: () => number;
}

export interface Runner {
  readonly running: number;
  /** false: it takes no due tasks any more. */
  readonly isAlive: boolean;
  /** For how long all runs have been taken, without one that ended; 0: there is a free one. */
  readonly fullMs: number;
  /** Looks for due tasks again: the catalogue has changed. */
  look(): void;
  /** Takes no new work, lets runs finish for a while, gives the rest back. */
  stop(): Promise<void>;
}

const CLAIM_MAX = 64;

/** Takes due tasks and drives them, as many at once as there is room for. */
export function createRunner(parts: RunnerParts): Runner {
  const { store, bus, catalog, log } = parts;
  const bell = new Latch();
  bus.subscribe(DUE, bell);
  const running = new ChurnMap<TaskId, Driven>();
  let stopped = false;
  /** When the last free run was taken; undefined: there are others. */
  let fullAt: number | undefined;
  let onIdle = (): void => {};

  async function loop(): Promise<void> {
    while (!stopped) {
      const at = parts.ticks();
      const runs = await claim().catch(error => {
        log.error({ err: error }, "due tasks could not be taken");
        return [];
      });
      for (const run of runs) begin(run, at);
      if (runs.length === 0 && !stopped) await bell.wait();
    }
  }

  function claim(): Promise<readonly Run[]> {
    const room = Math.min(parts.runsMax - running.size, CLAIM_MAX);
    return room > 0
      ? store.runs.claim(parts.worker, catalog.names(), room, scopesRunning)
      : Promise.resolve([]);
  }

  const scopesRunning = (): readonly Scope[] => Array.from(running.values(), ({ run }) => run.scope);

  function begin(run: Run, claimedAt: number): void {
    const agent = catalog.find(run.task.agent) as Agent;
    running.set(run.task.id, new Drive(parts, run, agent, claimedAt, end));
    if (running.size >= parts.runsMax) fullAt = parts.ticks();
  }

  function end(driven: Driven): void {
    const full = running.size >= parts.runsMax;
    if (running.get(driven.run.task.id) === driven) running.delete(driven.run.task.id);
    if (full) fullAt = undefined;
    if (full || store.runs.isHeld()) bell.wake();
    if (running.size === 0) onIdle();
  }

  const idle = (): Promise<void> =>
    new Promise(resolve => {
      if (running.size === 0) resolve();
      else onIdle = resolve;
    });

  async function renew(): Promise<void> {
    try {
      await Promise.all([...running.values()].map(renewOne));
    } finally {
      // Also if a renewal failed: the heartbeat is the safety net for due tasks of which no notification came.
      bell.wake();
    }
  }

  async function renewOne(driven: Driven): Promise<void> {
    await driven.renew();
    // The safety net for a bell that was lost.
    driven.wake();
  }

  const heart = setInterval(() => {
    renew().catch(error => log.error({ err: error }, "leases could not be renewed"));
  }, parts.leaseMs / 3);
  heart.unref();
  let alive = true;
  const looped = loop()
    .catch(error => log.error({ err: error }, "the runner has stopped"))
    .finally(() => (alive = false));

  return {
    get running() {
      return running.size;
    },
    get isAlive() {
      return alive;
    },
    get fullMs() {
      return fullAt === undefined ? 0 : parts.ticks() - fullAt;
    },
    look: () => bell.wake(),
    async stop() {
      stopped = true;
      bell.wake();
      await looped;
      await waitAtMost(idle(), parts.drainMs);
      for (const driven of running.values()) driven.stop("shutdown");
      await idle();
      clearInterval(heart);
      bus.unsubscribe(DUE, bell);
    },
  };
}

async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
