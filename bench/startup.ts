/** How long commands take from their start, and the memory of a server that does nothing. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { THIS_TREE } from "./contenders.ts";
import { readRssKib } from "./proc.ts";
import { toSpread } from "./ratios.ts";
import { toTable } from "./report.ts";
import type { Tools } from "./run.ts";

const PROGRAM = join(THIS_TREE, "bin/dragoman.cjs");
/** The first start fills the cache of compiled code, as the first start of a user does. */
const ROUNDS = 7;
const IDLE_MS = 3_000;
const READY_MS_MAX = 20_000;

const TARGETS = { help: 80, ready: 150, call: 150, idle: 60 } as const;
type Measured = keyof typeof TARGETS;
const LABELS: Readonly<Record<Measured, string>> = {
  help: "dragoman --help, ms",
  ready: "serve with six agents until it is ready, ms",
  call: "dragoman call to a running server, ms",
  idle: "memory of an idle server, MiB",
};

export interface StartupResult {
  readings: Record<Measured, number[]>;
  problems: string[];
}

export async function runStartup({ children, options, print }: Tools): Promise<StartupResult> {
  const result: StartupResult = { readings: { help: [], ready: [], call: [], idle: [] }, problems: [] };
  print("\nstartup: from the start of a process");
  const folder = children.createFolder(options.folder);
  for (let round = 0; round <= ROUNDS; round++) {
    const found = await measure(folder);
    if (round === 0) continue;
    for (const [name, value] of Object.entries(found)) result.readings[name as Measured].push(value);
    print(
      `  round ${round}/${ROUNDS}  ${Object.values(found)
        .map(value => value.toFixed(0))
        .join("  ")}`,
    );
  }
  children.removeFolder(folder);
  return result;
}

async function measure(folder: string): Promise<Record<Measured, number>> {
  const run = (...args: string[]): number => {
    const startMs = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd: folder });
    if (status !== 0) throw new Error(`dragoman ${args[0]} failed: ${stderr}`);
    return performance.now() - startMs;
  };
  const help = run("--help");
  const startMs = performance.now();
  // In an empty folder the six example agents are served.
  const args = [PROGRAM, "serve", "--port", "0", "--data", join(folder, "data")];
  const server = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await readUrl(server);
    const ready = performance.now() - startMs;
    await sleep(IDLE_MS);
    const idle = readRssKib(server.pid ?? 0) / 1024;
    return { help, ready, call: run("call", url, "hello"), idle };
  } finally {
    server.kill();
    if (server.exitCode === null) await once(server, "exit");
  }
}

/** The address is printed when the server accepts calls. */
async function readUrl(server: ChildProcess): Promise<string> {
  let output = "";
  const timer = setTimeout(() => server.kill(), READY_MS_MAX);
  for await (const text of server.stdout ?? []) {
    output += text;
    const url = /https?:\/\/[\d.]+:\d+/.exec(output)?.[0];
    if (url === undefined) continue;
    clearTimeout(timer);
    server.stdout?.resume();
    return url;
  }
  throw new Error(`the server ended: ${output}`);
}

export function describeStartup({ readings, problems }: StartupResult): string {
  const rows = (Object.keys(TARGETS) as Measured[]).map(name => {
    const { median, lowest, highest } = toSpread(readings[name]);
    const text = `${median.toFixed(0)} [${lowest.toFixed(0)}..${highest.toFixed(0)}]`;
    return [LABELS[name], text, `≤ ${TARGETS[name]}`, median <= TARGETS[name] ? "ok" : "above"];
  });
  return ["", ...toTable(["startup", "", "target", ""], rows), "", ...problems, ""].join("\n");
}
