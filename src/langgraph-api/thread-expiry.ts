/** Deletes threads whose time has come, or their older checkpoints. */
import type { Timers } from "../lib/timers.ts";
import { isSettled, LIMITS } from "../model/index.ts";
import type { Log, OwnedResource, Store } from "../ports/index.ts";
import type { FoundThread, ThreadRecord, ThreadRecords } from "./thread-records.ts";
import type { ThreadStates } from "./thread-state.ts";

export interface ThreadExpiryParts {
  readonly store: Store;
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  readonly wallTime: () => number;
  readonly log: Log;
  /** Between two sweeps. */
  readonly sweepMs: number;
  readonly timers: Timers;
}

export function createThreadExpiry(parts: ThreadExpiryParts) {
  const { store, threads, states, log } = parts;
  let isStopped = false;
  let sweeping = Promise.resolve();
  let clearTimer = (): void => {};
  function setTimer(): void {
    const onTime = (): void => {
      setTimer();
      sweeping = sweeping
        .then(sweep)
        .catch(error => log.warn({ err: error }, "expired threads could not be deleted"));
    };
    clearTimer = parts.timers.after(parts.sweepMs, onTime, "poll");
  }
  setTimer();

  async function sweep(): Promise<void> {
    for (;;) {
      if (isStopped) return;
      const found = await store.resources.expired("context", parts.wallTime(), LIMITS.pageSizeMax);
      for (const one of found) await expire(one);
      if (found.length < LIMITS.pageSizeMax) return;
    }
  }

  async function expire(resource: OwnedResource): Promise<void> {
    const { scope, id } = resource;
    const thread = await threads.find(scope, id);
    if (!thread) return;
    const tasks = await threads.tasksOf(scope, thread.id, LIMITS.pageSizeMax);
    const isActive = tasks.some(({ status }) => !isSettled(status.state));
    if (!isActive && thread.ttl?.strategy !== "keep_latest") return threads.remove(scope, thread.id);
    const agent = isActive ? undefined : await threads.agentOf(scope, thread);
    await agent?.graph?.keepLatest(states.graphContext(scope, agent, thread.id));
    // Counted anew: a thread with an active run is looked at again later.
    await threads.change(scope, id, toRecord);
  }

  return {
    sweep,
    async close(): Promise<void> {
      isStopped = true;
      clearTimer();
      await sweeping;
    },
  };
}

const toRecord = ({ metadata, config, ttl, temporary }: FoundThread): ThreadRecord => ({
  metadata,
  config,
  ...(ttl && { ttl }),
  ...(temporary && { temporary }),
});
