/** The program as users start it, in a separate process, for commands that end. */
import { spawn } from "node:child_process";
import { once } from "node:events";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export const runCli = (...args: readonly string[]): Promise<Ended> => runProgram(MAIN, ...args);

export async function runProgram(program: string, ...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: "/",
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", text => (out += text));
  child.stderr.setEncoding("utf8").on("data", text => (err += text));
  const [code] = await once(child, "close");
  return { code, out, err };
}
