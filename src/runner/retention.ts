import type { Timers } from "../lib/timers.ts";
import { LIMITS } from "../model/index.ts";
import type { Catalog, Log, Store } from "../ports/index.ts";

export interface SweeperParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly log: Log;
  /** Between two sweeps. */
  readonly sweepMs: number;
  readonly timers: Timers;
}

export interface Sweeper {
  /** Resolves when no deletion is in progress. */
  stop(): Promise<void>;
}

/** Periodically deletes tasks and events beyond the retention of their agent, and items whose time to live is over. */
export function createSweeper(parts: SweeperParts): Sweeper {
  const { store, catalog, log } = parts;
  let isStopped = false;
  let sweeping = Promise.resolve();
  let clearTimer = parts.timers.after(parts.sweepMs, sweep, "poll");

  function sweep(): void {
    sweeping = sweepAll().finally(() => {
      if (!isStopped) clearTimer = parts.timers.after(parts.sweepMs, sweep, "poll");
    });
  }

  async function sweepAll(): Promise<void> {
    for (const { name, policy } of catalog.all()) {
      if (!policy.retention) continue;
      try {
        while (!isStopped && (await store.maintenance.sweep(name, policy.retention)) > 0);
      } catch (error) {
        log.warn({ agent: name, err: error }, "old tasks could not be deleted; this is retried");
      }
    }
    try {
      while (!isStopped && (await store.items.sweep(LIMITS.itemsSweptMax)) === LIMITS.itemsSweptMax);
    } catch (error) {
      log.warn({ err: error }, "expired items could not be deleted; this is retried");
    }
  }

  return {
    async stop() {
      isStopped = true;
      clearTimer();
      await sweeping;
    },
  };
}
