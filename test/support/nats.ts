/** A real NATS, if Debian's nats-server is installed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

const PROGRAM = "/usr/sbin/nats-server";
export const hasNats = existsSync(PROGRAM);
/** Why tests are skipped, for their titles. */
export const NO_NATS = "nats-server is not installed (Debian package nats-server)";

export interface TestNats {
  readonly url: string;
  /** Kills it, and starts it again at the same port. */
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
  // It must not outlive the test run.
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
