/** Figures of this node: now, and a bounded history in memory. */
import type { HistogramTotals, MeterTotals, Store } from "../ports/index.ts";
import type { AgentRow, AgentRuns } from "./api.ts";
import type { Figures, FiguresPage, Percentiles } from "./api-server.ts";

export interface FigureParts {
  readonly node: string;
  readonly store: Store;
  readonly totals: () => MeterTotals;
  readonly streamsOpen: () => number;
  readonly runsRunning: () => number;
  readonly memoryBytes: () => number;
  readonly wallTime: () => number;
}

const STEP_MS = 10_000;
const LONG_STEP_MS = 5 * 60_000;
/** An hour of short steps, a day of long ones. */
const SAMPLES_MAX = 360;
const LONG_SAMPLES_MAX = 288;

interface AgentHealth {
  readonly runs: Omit<AgentRuns, "node">;
  readonly health: AgentRow["health"];
}

export type FigureRecorder = ReturnType<typeof startFigures>;

/** Takes a sample every ten seconds until it is closed. */
export function startFigures(parts: FigureParts) {
  const recent: Figures[] = [];
  const long: Figures[] = [];
  const agents = new Map<string, AgentHealth>();
  let before = parts.totals();
  let longBefore = before;
  let longAt = parts.wallTime();
  let storeBytes = 0;

  const measure = (now: MeterTotals, since: MeterTotals): Figures => ({
    at: parts.wallTime(),
    calls: countCalls(now) - countCalls(since),
    faults: countFaults(now) - countFaults(since),
    callMs: toPercentiles(now.callSeconds, since.callSeconds),
    firstEventMs: toPercentiles(now.firstEventSeconds, since.firstEventSeconds),
    streams: parts.streamsOpen(),
    runs: parts.runsRunning(),
    queue: parts.store.runs.waiting(),
    events: now.events - since.events,
    commits: sum(now.commitSeconds.counts) - sum(since.commitSeconds.counts),
    commitMs: toPercentiles(now.commitSeconds, since.commitSeconds),
    deliveriesTaken: now.pushes.taken - since.pushes.taken,
    deliveriesFailed: now.pushes.failed - since.pushes.failed,
    storeBytes,
    memoryBytes: parts.memoryBytes(),
  });

  function sample(): void {
    const now = parts.totals();
    observeAgents(now);
    recent.push(measure(now, before));
    if (recent.length > SAMPLES_MAX) recent.shift();
    before = now;
    if (parts.wallTime() - longAt >= LONG_STEP_MS) {
      long.push(measure(now, longBefore));
      if (long.length > LONG_SAMPLES_MAX) long.shift();
      longBefore = now;
      longAt = parts.wallTime();
    }
    void readStoreBytes();
  }

  async function readStoreBytes(): Promise<void> {
    // A store that is unavailable keeps its last size.
    storeBytes = await parts.store.maintenance.bytes().catch(() => storeBytes);
  }

  /** An agent is failing if all its runs failed that ended since the last look. */
  function observeAgents(now: MeterTotals): void {
    for (const [agent, ended] of Map.groupBy(now.runs, one => one.agent)) {
      const finished = sum(ended.map(one => one.count));
      const failed = sum(ended.filter(isFailure).map(one => one.count));
      const known = agents.get(agent);
      const crashes = now.crashes.find(one => one.agent === agent)?.count ?? 0;
      const isNew = finished > (known?.runs.finished ?? 0);
      if (known && !isNew) continue;
      const isFailing = failed - (known?.runs.failed ?? 0) === finished - (known?.runs.finished ?? 0);
      agents.set(agent, {
        runs: { finished, failed, crashes, lastEndedAt: parts.wallTime() },
        health: isFailing ? "failing" : "ok",
      });
    }
  }

  void readStoreBytes();
  const timer = setInterval(sample, STEP_MS).unref();
  return {
    /** Since the last sample. */
    current: (): Figures => measure(parts.totals(), before),
    history: (range: "1h" | "24h"): FiguresPage =>
      range === "1h"
        ? { node: parts.node, stepMs: STEP_MS, samples: recent }
        : { node: parts.node, stepMs: LONG_STEP_MS, samples: long },
    totals: parts.totals,
    agent(name: string): AgentHealth {
      observeAgents(parts.totals());
      return agents.get(name) ?? { runs: NO_RUNS, health: "idle" };
    },
    close: (): void => clearInterval(timer),
  };
}

const NO_RUNS = { finished: 0, failed: 0, crashes: 0, lastEndedAt: null };
const isFailure = ({ outcome }: MeterTotals["runs"][number]): boolean =>
  outcome === "broken" || outcome === "failed";

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const countCalls = ({ calls }: MeterTotals): number => sum(calls.map(one => one.count));
const countFaults = ({ calls }: MeterTotals): number =>
  sum(calls.filter(one => one.outcome !== "ok").map(one => one.count));

/** Inside its bucket, a value is assumed to be distributed evenly. */
export function toPercentiles(now: HistogramTotals, since: HistogramTotals): Percentiles {
  const counts = now.counts.map((count, i) => count - (since.counts[i] ?? 0));
  const total = sum(counts);
  const at = (share: number): number | null => {
    if (total === 0) return null;
    let left = share * total;
    for (const [i, count] of counts.entries()) {
      const low = i === 0 ? 0 : (now.bounds[i - 1] as number);
      const high = now.bounds[i] ?? low;
      if (left <= count) return toMs(low + (high - low) * (count === 0 ? 0 : left / count));
      left -= count;
    }
    return toMs(now.bounds.at(-1) ?? 0);
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Seconds as milliseconds, to a hundredth. */
const toMs = (seconds: number): number => Math.round(seconds * 100_000) / 100;
