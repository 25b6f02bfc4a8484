/** A real NATS, where Debian's nats-server is installed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./postgres.ts";

const PROGRAM = "/usr/sbin/nats-server";
export const hasNats = existsSync(PROGRAM);
/** Why tests are left out, for those who read their names. */
export const NO_NATS = "there is no nats-server here; Debian's package of that name brings it";

export interface TestNats {
  readonly url: string;
  /** Ends it without a word, and starts it again at the same place. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startNats(): Promise<TestNats> {
  const port = await freePort();
  let server = await launch(port);
  const stop = async (): Promise<void> => {
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    async restart() {
      await stop();
      server = await launch(port);
    },
    stop,
  };
}

async function launch(port: number): Promise<ChildProcess> {
  const server = spawn(PROGRAM, ["-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  // If the test run dies, it goes as well.
  const kill = (): void => void server.kill("SIGKILL");
  process.once("exit", kill);
  server.once("exit", () => process.off("exit", kill));
  while (!(await answers(port))) await sleep(20);
  return server;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const answered = await Promise.race([
    once(socket, "data").then(() => true),
    once(socket, "close").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answered;
}
