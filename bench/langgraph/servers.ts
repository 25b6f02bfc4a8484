/** Dragoman and the open JavaScript server of LangGraph, with one project. */
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { installReference, REFERENCE_PROGRAM } from "../../test/judges/langgraph/reference.ts";
import type { Children } from "../children.ts";
import { flagsOfStart } from "../contenders.ts";
import { findPort } from "../server.ts";

export interface GraphServer {
  label: string;
  url: string;
  /** Its process group. */
  group: number;
  stop(): Promise<void>;
}

const GRAPHS = { steps: "./graphs.ts:steps", loop: "./graphs.ts:loop", words: "./graphs.ts:words" };
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The other server. */
export const REFERENCE = "langgraph-api 1.5.1";
const READY_MS_MAX = 60_000;

/** Installs the other server on demand, in a folder of its own. */
export async function startGraphServers(children: Children, parent: string): Promise<GraphServer[]> {
  const installed = installReference();
  if (installed === undefined) throw new Error("@langchain/langgraph-api could not be installed");
  const folder = children.createFolder(parent);
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
  copyFileSync(fileURLToPath(new URL("./graphs.ts", import.meta.url)), join(folder, "graphs.ts"));
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: GRAPHS }));
  writeFileSync(join(folder, "reference.mjs"), REFERENCE_PROGRAM);
  const start = async (label: string, toArgs: (port: number) => string[]): Promise<GraphServer> => {
    const port = await findPort();
    const child = children.spawn(toArgs(port), { LOG_LEVEL: "error" });
    const url = `http://127.0.0.1:${port}`;
    await awaitOk(url);
    return { label, url, group: child.pid ?? 0, stop: () => children.end(child) };
  };
  const config = join(folder, "langgraph.json");
  const startOwn = (durability: string): Promise<GraphServer> =>
    start(`Dragoman ${durability}`, port => [
      ...flagsOfStart(ROOT),
      join(ROOT, "bin/dragoman.cjs"),
      ...["serve", config, "--port", String(port), "--data", join(folder, durability)],
      ...["--durability", durability, "--log-level", "error"],
    ]);
  return [
    await startOwn("power"),
    await startOwn("process"),
    await start(REFERENCE, port => [
      join(folder, "reference.mjs"),
      JSON.stringify({ cwd: folder, graphs: GRAPHS, port }),
    ]),
  ];
}

async function awaitOk(url: string): Promise<void> {
  const end = performance.now() + READY_MS_MAX;
  while (performance.now() < end) {
    const response = await fetch(`${url}/ok`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(100);
  }
  throw new Error(`${url} did not answer within ${READY_MS_MAX} ms`);
}
