/** Log, metrics and traces: wrappers around the ports. */
import type {
  Agent,
  CommitObserver,
  Endpoint,
  Fetch,
  Log,
  MeterTotals,
  Observer,
  Outbound,
  Store,
} from "../ports/index.ts";
import { combineObservers } from "./combine-observers.ts";
import { isVerbose, type LevelSwitch } from "./level.ts";
import { loggedCalls } from "./logged-call.ts";
import { type MeterParts, meteredCalls } from "./metered-call.ts";
import { meteredCommits, meteredFetch, meteredStore } from "./metered-ports.ts";
import { createMeters } from "./metrics.ts";
import type { OtelParts } from "./otel.ts";
import { isSdkThere } from "./otel-registered.ts";
import { metricsRoute, type Sources } from "./scrape.ts";
import { readTotals } from "./totals.ts";
import type { Traced } from "./traced.ts";

export interface TelemetryParts {
  /** Serve them to Prometheus. */
  readonly metrics: boolean;
  /** Count them for the admin API. */
  readonly counts: boolean;
  readonly otel: OtelParts | undefined;
  readonly traceContent: boolean;
  readonly logBodies: boolean;
  /** undefined: the level is fixed, and calls are not logged one by one. */
  readonly levels: LevelSwitch | undefined;
  readonly log: Log;
  /** Another observer of calls. */
  readonly observer?: Observer | undefined;
  readonly version: () => string;
  readonly newId: () => string;
  /** The event clock. */
  readonly now: () => number;
  /** The wall clock, for spans and delivery attempts. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

/** The wrappers; a port that needs none stays as it is. */
export interface Telemetry {
  readonly watch: Observer | undefined;
  readonly commits: CommitObserver | undefined;
  store(store: Store): Store;
  /** `target`: the kind of server that is called. */
  fetch(fetch: Fetch, target: string): Fetch;
  outbound(outbound: Outbound): Outbound;
  agent(agent: Agent): Agent;
  /** undefined: nothing is counted. */
  readonly totals: (() => MeterTotals) | undefined;
  /** The Prometheus endpoint, if metrics are on. */
  routes(sources: Sources): readonly Endpoint[];
  close(): Promise<void>;
}

export async function openTelemetry(parts: TelemetryParts): Promise<Telemetry> {
  const metered = parts.metrics || parts.counts ? createMetered(parts) : undefined;
  const traced = await openTraced(parts);
  const { levels } = parts;
  const logged = loggedCalls({
    ...parts,
    bodies: parts.logBodies,
    isVerbose: () => levels !== undefined && isVerbose(levels),
  });
  const fetch = (inner: Fetch, target: string): Fetch =>
    around<Fetch>(traced?.fetch, metered && (one => metered.fetch(one, target)))(inner);
  return {
    // Traces come first: log lines and metrics use the recorded trace context.
    watch: combineObservers(
      [traced?.watch, metered?.watch, logged, parts.observer].filter(one => one !== undefined),
    ),
    commits: metered?.commits,
    store: around<Store>(traced?.store, metered?.store),
    fetch,
    outbound: ({ guarded, trusted }) => ({
      guarded: fetch(guarded, "guarded"),
      trusted: fetch(trusted, "trusted"),
    }),
    agent: around<Agent>(traced?.agent),
    totals: metered && (() => readTotals(metered.meters)),
    routes: sources => (metered && parts.metrics ? [metricsRoute(metered.meters, sources)] : []),
    close: async () => traced?.close(),
  };
}

/** The first wrapper is the outermost. */
function around<T>(...wraps: readonly (((one: T) => T) | undefined)[]): (one: T) => T {
  return one => wraps.reduceRight((inner, wrap) => (wrap ? wrap(inner) : inner), one);
}

function createMetered(time: Omit<MeterParts, "meters">) {
  const parts = { now: time.now, wallTime: time.wallTime, ticks: time.ticks, meters: createMeters() };
  return {
    meters: parts.meters,
    watch: meteredCalls(parts),
    commits: meteredCommits(parts),
    store: (store: Store): Store => meteredStore(store, parts),
    fetch: (fetch: Fetch, target: string): Fetch => meteredFetch(fetch, target, parts),
  };
}

/** Loaded only if the environment or an SDK of the host program asks for spans. */
async function openTraced(parts: TelemetryParts): Promise<Traced | undefined> {
  if (!parts.otel && !isSdkThere()) return undefined;
  const { openTraced: open } = await import("./traced.ts");
  return open({ ...parts, version: parts.version(), content: parts.traceContent });
}
