import type { Endpoint, Store } from "../ports/index.ts";
import { createExposition, type Exposition } from "./exposition.ts";
import type { Meters } from "./metrics.ts";

/** What is only looked at when somebody asks. */
export interface Sources {
  readonly version: () => string;
  readonly store: Store;
  readonly runsRunning: () => number;
  readonly streamsOpen: () => number;
  readonly unreadBytes: () => number;
}

/** The answer to Prometheus. */
export function metricsRoute(meters: Meters, sources: Sources): Endpoint {
  let exposition: Promise<Exposition> | undefined;

  async function look(): Promise<void> {
    const { store } = sources;
    meters.build.set([sources.version(), process.versions.node], 1);
    meters.streams.set([], sources.streamsOpen());
    meters.unread.set([], sources.unreadBytes());
    meters.running.set([], sources.runsRunning());
    meters.waiting.set([], store.runs.waiting());
    meters.storeBytes.set([], await store.maintenance.bytes());
    meters.unfinished.clear();
    for (const [agent, count] of await store.runs.unfinished()) meters.unfinished.set([agent], count);
  }

  return {
    verb: "GET",
    path: "/metrics",
    async serve() {
      exposition ??= createExposition(Object.values(meters));
      const { type, text } = await exposition;
      await look();
      return { status: 200, headers: { "Content-Type": type }, text: await text() };
    },
  };
}
