/** Follows a thread over all its runs: a reader stays while there is none, and is woken by the next. */
import { Latch } from "../lib/latch.ts";
import type { Bus } from "../ports/index.ts";
import type { ApiCall } from "./route.ts";
import type { FoundRun, RunRecords } from "./run-records.ts";
import type { ThreadRecords } from "./thread-records.ts";

export interface ThreadRunParts {
  readonly bus: Bus;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
}

/** Readers of a thread wait for its next run, or a change of its state. */
const threadTopic = (threadId: string): string => `thread/${threadId}`;

/** Runs that another protocol began on the thread are found by looking. */
const LOOK_MS = 2_000;

export interface FollowedRun {
  readonly run: FoundRun;
  /** Its number in the thread. */
  readonly index: number;
}

export function createThreadRuns({ bus, threads, runs }: ThreadRunParts) {
  return {
    notify: (threadId: string): void => bus.notify(threadTopic(threadId)),
    /** `startOf`: the number of the first run that the reader gets. undefined is yielded before each wait. */
    async *follow(
      call: ApiCall,
      id: string,
      startOf: (all: readonly FoundRun[]) => number,
    ): AsyncGenerator<FollowedRun | undefined> {
      const latch = new Latch();
      bus.subscribe(threadTopic(id), latch);
      const signal = call.signal();
      const wake = (): void => latch.wake();
      signal.addEventListener("abort", wake, { once: true });
      const timer = setInterval(wake, LOOK_MS).unref();
      let next: number | undefined;
      try {
        while (!signal.aborted) {
          const thread = await threads.find(call.scope, id);
          const all = thread ? (await runs.list(call.scope, thread)).toReversed() : [];
          next ??= startOf(all);
          const run = all[next];
          if (run) yield { run, index: next++ };
          else {
            yield undefined;
            await latch.wait();
          }
        }
      } finally {
        clearInterval(timer);
        signal.removeEventListener("abort", wake);
        bus.unsubscribe(threadTopic(id), latch);
      }
    },
  };
}

export type ThreadRuns = ReturnType<typeof createThreadRuns>;
