/** Starts the programs of the documents: servers of their own, receivers, clients. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "../client.ts";

const FREE_PORTS = new URL("free-ports.mjs", import.meta.url).href;

export interface Program {
  /** Where it listens: the port that the document names. */
  url(port: number): Promise<string>;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export function startProgram(file: string, cwd: string): Program {
  const child: ChildProcess = spawn(process.execPath, ["--import", FREE_PORTS, file], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    async url(port) {
      const line = new RegExp(`^listening ${port} (\\d+)$`, "m");
      await until(() => line.test(text) || child.exitCode !== null);
      const found = line.exec(text)?.[1];
      if (found === undefined) throw new Error(`${file} does not listen at ${port}:\n${text}`);
      return `http://127.0.0.1:${found}`;
    },
    output: () => text,
    ended,
    signal: name => void child.kill(name),
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
