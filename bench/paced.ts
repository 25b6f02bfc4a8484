/** Many open streams whose agents send at a fixed pace: which share of the events arrives, and with what delay. */
import { setTimeout as sleep } from "node:timers/promises";
import { readCpuMs, readRssKib } from "./proc.ts";
import { toSpread } from "./ratios.ts";
import { toTable } from "./report.ts";
import type { Tools } from "./run.ts";
import { startServer } from "./server.ts";

interface Setting {
  streams: number;
  /** Events of each stream per second. */
  perSecond: number;
  seconds: number;
  /** Time to open the streams. */
  aheadMs: number;
  target: { p99Ms: number; kib: number | undefined };
}
const SETTINGS: Setting[] = [
  { streams: 1_000, perSecond: 20, seconds: 8, aheadMs: 4_000, target: { p99Ms: 20, kib: undefined } },
  { streams: 10_000, perSecond: 1, seconds: 10, aheadMs: 20_000, target: { p99Ms: 50, kib: 30 } },
];

interface PacedReading {
  setting: Setting;
  /** Share of the events that arrived. */
  kept: number;
  p50Ms: number;
  p99Ms: number;
  /** Growth of resident memory for each stream while it is active. */
  kib: number;
  /** Share of one core that the server used. */
  share: number;
  /** Share of one core that the load generator used. */
  generatorShare: number;
}

export interface PacedResult {
  readings: PacedReading[];
  problems: string[];
}

export async function runPaced(tools: Tools): Promise<PacedResult> {
  const result: PacedResult = { readings: [], problems: [] };
  tools.print("\npaced: open streams whose agents send at a fixed pace");
  for (let round = 0; round < tools.options.clusterRounds; round++)
    for (const setting of SETTINGS)
      try {
        const reading = await measure(setting, tools);
        result.readings.push(reading);
        tools.print(`  ${toCells([reading]).join("  ")}`);
      } catch (error) {
        result.problems.push(`paced, ${setting.streams} streams: ${(error as Error).message}`);
        tools.print(`  ${setting.streams} streams: ${(error as Error).message}`);
      }
  return result;
}

async function measure(setting: Setting, { surroundings, generator }: Tools): Promise<PacedReading> {
  const { streams, perSecond, seconds, aheadMs } = setting;
  const server = await startServer({ contender: "paced" }, surroundings);
  try {
    const before = readRssKib(server.group);
    const beginMs = performance.timeOrigin + performance.now() + aheadMs;
    const [count, pauseMs] = [perSecond * seconds, 1_000 / perSecond];
    const pacing = generator.pace({ port: server.port, streams, count, pauseMs, beginMs });
    // A failure to open the streams ends the wait.
    const wait = (ms: number): Promise<unknown> => Promise.race([sleep(ms), pacing]);
    await wait(aheadMs + (seconds * 1_000) / 4);
    const cpuBefore = readCpuMs(server.group);
    await wait((seconds * 1_000) / 2);
    const share = (readCpuMs(server.group) - cpuBefore) / (seconds * 500);
    const kib = (readRssKib(server.group) - before) / streams;
    const { events, p50Ms, p99Ms, generatorMs } = await pacing;
    const generatorShare = generatorMs / (seconds * 1_000);
    return { setting, kept: events / (streams * count), p50Ms, p99Ms, kib, share, generatorShare };
  } finally {
    await server.stop();
  }
}

const HEAD = ["paced", "kept", "p50 ms", "p99 ms", "KiB/stream", "core: server", "core: load", "targets", ""];

export function describePaced({ readings, problems }: PacedResult): string {
  const rows = SETTINGS.flatMap(setting => {
    const found = readings.filter(one => one.setting === setting);
    return found.length === 0 ? [] : [toCells(found)];
  });
  return [
    "",
    ...toTable(HEAD, rows),
    "",
    "Medians. p50, p99: from the agent to the client.",
    ...problems,
    "",
  ].join("\n");
}

function toCells(readings: readonly PacedReading[]): string[] {
  const { streams, perSecond, target } = (readings[0] as PacedReading).setting;
  const median = (of: (one: PacedReading) => number): number => toSpread(readings.map(of)).median;
  const [kept, p99, kib] = [median(one => one.kept), median(one => one.p99Ms), median(one => one.kib)];
  const isReached = kept >= 1 && p99 <= target.p99Ms && kib <= (target.kib ?? Number.POSITIVE_INFINITY);
  return [
    `${streams} streams, ${perSecond}/s each`,
    `${(100 * kept).toFixed(1)} %`,
    median(one => one.p50Ms).toFixed(1),
    p99.toFixed(1),
    kib.toFixed(0),
    median(one => one.share).toFixed(2),
    median(one => one.generatorShare).toFixed(2),
    `all kept, p99 ≤ ${target.p99Ms}${target.kib === undefined ? "" : `, ≤ ${target.kib} KiB`}`,
    isReached ? "ok" : "missed",
  ];
}
