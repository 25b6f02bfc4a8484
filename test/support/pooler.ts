/** A real PgBouncer in transaction mode, if Debian's pgbouncer is installed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { UNPRIVILEGED_UID } from "./postgres.ts";

const PROGRAM = "/usr/sbin/pgbouncer";
export const hasPooler = existsSync(PROGRAM);
/** Why tests are skipped, for their titles. */
export const NO_POOLER = "pgbouncer is not installed (Debian package pgbouncer)";

export interface TestPooler {
  /** The same database, through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** `ignore`: session settings that it ignores instead of refusing them. */
export async function startPooler(postgresUrl: string, ignore: readonly string[] = []): Promise<TestPooler> {
  const { hostname, port: postgresPort, username } = new URL(postgresUrl);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "dragoman-pooler-"));
  writeFileSync(join(folder, "users"), `"${username}" ""\n`);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, configOf({ folder, port, ignore, server: `host=${hostname} port=${postgresPort}` }));
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  const child = spawn(PROGRAM, [file], {
    stdio: "ignore",
    ...(isRoot && { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID }),
  });
  // It must not outlive the test run.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  const through = (url: string): string => Object.assign(new URL(url), { hostname: "127.0.0.1", port }).href;
  await answers(through(postgresUrl));
  return {
    through,
    async stop() {
      const ended = once(child, "exit");
      kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configOf = (parts: {
  readonly folder: string;
  readonly port: number;
  readonly server: string;
  readonly ignore: readonly string[];
}): string => `[databases]
* = ${parts.server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${parts.port}
unix_socket_dir =
auth_type = trust
auth_file = ${parts.folder}/users
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
ignore_startup_parameters = ${["extra_float_digits", ...parts.ignore].join(",")}
`;

async function answers(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise(resolve => void setTimeout(resolve, 50));
    }
  }
}
