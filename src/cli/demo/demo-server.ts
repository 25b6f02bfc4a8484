/** The server of the demonstration: a process of its own, which can be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ClientError } from "../terminal/errors.ts";

export interface DemoServer {
  readonly url: string;
  readonly pid: number;
  /** SIGKILL: the process has no chance to save anything. */
  kill(): Promise<void>;
}

/** `port`: 0 for any free one. */
export async function startDemoServer(root: string, data: string, port: number): Promise<DemoServer> {
  const agent = join(root, "examples", "_story.ts");
  const args = ["serve", agent, "--data", data, "--port", String(port), "--json", "--log-level", "error"];
  const child = spawn(process.execPath, [join(root, "bin", "dragoman.cjs"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess["stdout"]> });
  const first = await lines[Symbol.asyncIterator]().next();
  if (first.done) throw new ClientError("The server of the demonstration did not start");
  const { url } = JSON.parse(first.value) as { readonly url: string };
  const ended = once(child, "exit");
  return {
    url,
    pid: child.pid as number,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
