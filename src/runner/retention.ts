import type { Catalog, Log, Store } from "../ports/index.ts";

export interface SweeperParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly log: Log;
  /** Between two looks. */
  readonly sweepMs: number;
}

export interface Sweeper {
  /** Resolves when nothing more is taken away. */
  stop(): Promise<void>;
}

/** Takes away, now and then, what the retention of an agent no longer keeps. */
export function createSweeper(parts: SweeperParts): Sweeper {
  const { store, catalog, log } = parts;
  let stopped = false;
  let sweeping = Promise.resolve();
  let timer = setTimeout(look, parts.sweepMs).unref();

  function look(): void {
    sweeping = sweepAll().finally(() => {
      if (!stopped) timer = setTimeout(look, parts.sweepMs).unref();
    });
  }

  async function sweepAll(): Promise<void> {
    for (const { name, policy } of catalog.all()) {
      if (!policy.retention) continue;
      try {
        while (!stopped && (await store.maintenance.sweep(name, policy.retention)) > 0);
      } catch (error) {
        log.warn({ agent: name, err: error }, "old tasks could not be taken away; this is tried again");
      }
    }
  }

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
