/** Metrics of the ports. */
import type { TaskEvent } from "../model/index.ts";
import type { CommitObserver, Fetch, Run, Store } from "../ports/index.ts";
import type { MeterParts } from "./metered-call.ts";
import { meteredDeliveries } from "./metered-pushes.ts";

/** Counts commits and their durations. */
export const meteredCommits = ({ meters, ticks }: MeterParts): CommitObserver => ({
  startCommit() {
    const began = ticks();
    return (tasks, events) => {
      meters.commitSeconds.observe([], (ticks() - began) / 1_000);
      meters.commitTasks.observe([], tasks);
      meters.events.add([], events);
    };
  },
  onFailure: () => meters.commitFailures.add([]),
});

/** Counts runs, from the claim to their end in the log. */
export function meteredStore(store: Store, parts: MeterParts): Store {
  const { meters, now, ticks } = parts;
  /** Weak: a lost run never reports its end. */
  const begun = new WeakMap<Run, number>();

  function begin(run: Run): void {
    const { agent } = run.task;
    begun.set(run, ticks());
    meters.attempts.add([agent]);
    if (run.afterCrash) meters.crashes.add([agent]);
    else meters.queueSeconds.observe([agent], Math.max(0, now() - run.dueAt) / 1_000);
  }

  function end(run: Run, outcome: string): void {
    const { agent } = run.task;
    meters.runs.add([agent, outcome]);
    const began = begun.get(run);
    if (began !== undefined) meters.runSeconds.observe([agent], (ticks() - began) / 1_000);
    begun.delete(run);
  }

  function countEvent(run: Run, event: TaskEvent, done: Promise<void>): void {
    if (event.type === "usage" && event.of === undefined) {
      for (const [counter, count] of Object.entries(event.usage))
        if (count > 0) meters.usage.add([run.task.agent, counter], count);
      return;
    }
    const outcome = outcomeOf(event);
    if (outcome !== undefined) endWith(run, outcome, done);
  }

  /** Apart from `countEvent`, which runs for every chunk: a function with closures is dearer even if it makes none. */
  function endWith(run: Run, outcome: string, done: Promise<void>): void {
    done.then(
      () => end(run, outcome),
      () => {},
    );
  }

  return {
    ...store,
    log: {
      ...store.log,
      append(scope, taskId, events, condition, extras) {
        const done = store.log.append(scope, taskId, events, condition, extras);
        if ("run" in condition) for (const event of events) countEvent(condition.run, event, done);
        return done;
      },
    },
    runs: {
      ...store.runs,
      async claim(worker, agents, max, running) {
        const runs = await store.runs.claim(worker, agents, max, running);
        for (const run of runs) begin(run);
        return runs;
      },
      setStarter(starter) {
        store.runs.setStarter({
          ...starter,
          start(run, recorded) {
            begin(run);
            starter.start(run, recorded);
          },
        });
      },
      async release(run) {
        await store.runs.release(run);
        end(run, "released");
      },
    },
    deliveries: meteredDeliveries(store.deliveries, parts),
    maintenance: {
      ...store.maintenance,
      async sweep(agent, retention) {
        const count = await store.maintenance.sweep(agent, retention);
        if (count > 0) meters.swept.add([agent], count);
        return count;
      },
    },
  };
}

/** The outcome if this event ends the run. */
function outcomeOf(event: TaskEvent): string | undefined {
  if (event.type === "reply") return "completed";
  if (event.type !== "status" || event.state === "working") return undefined;
  return event.broken ? "broken" : event.state;
}

/** Counts outgoing calls by kind (`target`), not by host: callers may choose hosts. */
export const meteredFetch =
  (fetch: Fetch, target: string, { meters, ticks }: MeterParts): Fetch =>
  async (url, init) => {
    const began = ticks();
    let outcome = "failed";
    try {
      const response = await fetch(url, init);
      outcome = `${Math.floor(response.status / 100)}xx`;
      return response;
    } finally {
      meters.outbound.add([target, outcome]);
      meters.outboundSeconds.observe([target], (ticks() - began) / 1_000);
    }
  };
