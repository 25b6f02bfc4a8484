/** What the server tells about itself, told by whoever stands around its ports. */
import type {
  Agent,
  CommitObserver,
  Endpoint,
  Fetch,
  Log,
  Observer,
  Outbound,
  Store,
} from "../ports/index.ts";
import { isVerbose, type LevelSwitch } from "./level.ts";
import { loggedCalls } from "./logged-call.ts";
import { type MeterParts, meteredCalls } from "./metered-call.ts";
import { meteredCommits, meteredFetch, meteredStore } from "./metered-ports.ts";
import { createMeters } from "./metrics.ts";
import type { OtelParts } from "./otel.ts";
import { isSdkThere } from "./otel-registered.ts";
import { metricsRoute, type Sources } from "./scrape.ts";
import type { Traced } from "./traced.ts";
import { watchedBy } from "./watch.ts";

export interface TelemetryParts {
  readonly metrics: boolean;
  readonly otel: OtelParts | undefined;
  readonly traceContent: boolean;
  readonly logBodies: boolean;
  /** undefined: the level is what it is, and calls are not told one by one. */
  readonly levels: LevelSwitch | undefined;
  readonly log: Log;
  readonly version: () => string;
  readonly newId: () => string;
  readonly digest: (text: string) => string;
  /** As events are dated. */
  readonly now: () => number;
  /** As spans and attempts to deliver are dated. */
  readonly wallTime: () => number;
  /** Milliseconds that only serve to measure. */
  readonly ticks: () => number;
}

/** What stands around the ports; where nobody wants to know, nothing does. */
export interface Telemetry {
  readonly watch: Observer | undefined;
  readonly commits: CommitObserver | undefined;
  store(store: Store): Store;
  /** `target`: what kind of others are called. */
  fetch(fetch: Fetch, target: string): Fetch;
  outbound(outbound: Outbound): Outbound;
  agent(agent: Agent): Agent;
  /** What answers to Prometheus, if there is something to answer. */
  routes(sources: Sources): readonly Endpoint[];
  close(): Promise<void>;
}

export async function openTelemetry(parts: TelemetryParts): Promise<Telemetry> {
  const metered = parts.metrics ? createMetered(parts) : undefined;
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
    // Spans come first: the others tell of the place in a trace that is recorded.
    watch: watchedBy([...(traced ? [traced.watch] : []), ...(metered ? [metered.watch] : []), logged]),
    commits: metered?.commits,
    store: around<Store>(traced?.store, metered?.store),
    fetch,
    outbound: ({ guarded, trusted }) => ({
      guarded: fetch(guarded, "guarded"),
      trusted: fetch(trusted, "trusted"),
    }),
    agent: around<Agent>(traced?.agent),
    routes: sources => (metered ? [metricsRoute(metered.meters, sources)] : []),
    close: async () => traced?.close(),
  };
}

/** The first one is the outermost. */
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

/** Loaded only if somebody wants spans: the environment, or a program with an SDK of its own. */
async function openTraced(parts: TelemetryParts): Promise<Traced | undefined> {
  if (!parts.otel && !isSdkThere()) return undefined;
  const { openTraced: open } = await import("./traced.ts");
  return open({ ...parts, version: parts.version(), content: parts.traceContent });
}
