/** The open JavaScript server of LangGraph, installed on demand, and this server, with the same graphs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "../../support/child.ts";
import { tempFolder } from "../../support/server.ts";
import { installPackages } from "../install.ts";

export const REFERENCE_PACKAGES = [
  "@langchain/langgraph-api@1.5.1",
  "@langchain/langgraph@1.4.18",
  "@langchain/langgraph-checkpoint@1.1.5",
  "@langchain/langgraph-sdk@1.12.0",
  "@langchain/core@1.2.13",
];

const GRAPHS = new URL("./graphs.ts", import.meta.url).pathname;
const NAMES = ["chat", "approval", "both", "steps", "nested", "slow", "broken", "tools"];

export interface Pair {
  readonly theirs: string;
  readonly ours: string;
  stop(): Promise<void>;
}

export const installReference = (): string | undefined =>
  installPackages("langgraph-api", REFERENCE_PACKAGES);

/** Both servers, with one project. Node strips no types below node_modules, so the project is elsewhere. */
export async function startPair(installed: string): Promise<Pair> {
  const { path: folder, remove } = tempFolder();
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
  copyFileSync(GRAPHS, join(folder, "graphs.ts"));
  const graphs = Object.fromEntries(NAMES.map(name => [name, `./graphs.ts:${name}`]));
  const config = join(folder, "langgraph.json");
  writeFileSync(config, JSON.stringify({ graphs }));
  const reference = await startReference(folder, graphs);
  const own: Child = await startChild({ agents: [config], data: join(folder, "data") });
  return {
    theirs: reference.url,
    ours: own.url,
    async stop() {
      await Promise.all([own.stop(), reference.stop()]);
      remove();
    },
  };
}

/** Prints its address when it listens; without a port of its own it ends with its standard input. */
export const REFERENCE_PROGRAM = `
import { startServer } from "@langchain/langgraph-api/server";
const options = JSON.parse(process.argv[2]);
const { host } = await startServer({ port: 0, nWorkers: 10, host: "127.0.0.1", ...options });
process.stdout.write("LISTENING " + host + "\\n");
if (!options.port) process.stdin.on("end", () => process.exit(0)).resume();
`;

async function startReference(cwd: string, graphs: Readonly<Record<string, string>>) {
  const file = join(cwd, "reference.mjs");
  writeFileSync(file, REFERENCE_PROGRAM);
  const child = spawn(process.execPath, [file, JSON.stringify({ cwd, graphs })], {
    cwd,
    // On a busy machine it would give up parsing types after half a minute.
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      LOG_LEVEL: "error",
      LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: "600000",
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", text => (err += text));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.stdout.setEncoding("utf8").on("data", text => {
    out += text;
    const address = /^LISTENING (.*)$/m.exec(out)?.[1];
    if (address) resolve(`http://${address}`);
  });
  const exited = once(child, "close");
  void exited.then(() => reject(new Error(`the reference server did not start: ${out}${err}`)));
  return {
    url: await promise,
    async stop(): Promise<void> {
      child.stdin.end();
      await exited;
    },
  };
}
