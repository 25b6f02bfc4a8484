import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, endChildren, refusedChild, startChild } from "../support/child.ts";
import { rpc, sendParams } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { stateOf, taskOf } from "../support/wire.ts";

let folder: ReturnType<typeof tempFolder>;
let data: string;

beforeEach(() => {
  folder = tempFolder();
  data = join(folder.path, "data");
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const FLAGS = ["--default", "echo", "--durability", "process", "--log-level", "warn"];
const start = (more: { port?: number } = {}): Promise<Child> => startChild({ data, flags: FLAGS, ...more });
const refused = (more: { uid?: number; port?: number } = {}) => refusedChild({ data, flags: FLAGS, ...more });

const sendText = async (url: string): Promise<string | undefined> =>
  stateOf((await rpc(url, "SendMessage", sendParams("hello"))).body);

/** One message for the operator: no stack, no internals. */
function expectPlain(result: { out: string; err: string; code: number | null }): void {
  expect(result.code).toBe(1);
  expect(result.out).toBe("");
  expect(result.err).not.toMatch(/\n\s+at |node:internal|SQLITE_|ERR_/);
  expect(result.err.trim().split("\n").length).toBeLessThanOrEqual(2);
}

test("a second server on the same folder refuses to start with a reason and a remedy, and changes nothing", async () => {
  const first = await start();
  const second = await refused();
  expectPlain(second);
  expect(second.err).toContain(data);
  expect(second.err).toContain("in use by another Dragoman server");
  expect(second.err).toContain(`process ${first.pid}`);
  expect(second.err).toContain("--data");
  expect(await sendText(first.url)).toBe("completed");
});

test("after the first was killed the second starts at once, and has its tasks", async () => {
  const first = await start();
  const { body } = await rpc(first.url, "SendMessage", sendParams("remember me"));
  const { id } = taskOf(body);
  await first.kill();
  const second = await start();
  expect(stateOf((await rpc(second.url, "GetTask", { id })).body)).toBe("completed");
  expect(await sendText(second.url)).toBe("completed");
  const third = await refused();
  expect(third.err).toContain(`process ${second.pid}`);
});

test("after the first was stopped no lock is left", async () => {
  const first = await start();
  expect((await first.stop()).code).toBe(0);
  expect(existsSync(join(data, "dragoman.pid"))).toBe(false);
  const second = await start();
  expect(await sendText(second.url)).toBe("completed");
});

test("two that start at the same moment: one of them serves, the other is refused", async () => {
  const results = await Promise.allSettled([start(), start(), start()]);
  const won = results.flatMap(one => (one.status === "fulfilled" ? [one.value] : []));
  const lost = results.flatMap(one => (one.status === "rejected" ? [String(one.reason)] : []));
  expect([won.length, lost.length]).toEqual([1, 2]);
  for (const why of lost) expect(why).toMatch(/ended with 1: .*in use by another Dragoman server/);
  expect(await sendText((won[0] as Child).url)).toBe("completed");
});

test("a store that was written by a newer Dragoman is refused and not changed", async () => {
  await (await start()).stop();
  const file = join(data, "dragoman.db");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 99");
  db.close();
  const result = await refused();
  expectPlain(result);
  expect(result.err).toContain(file);
  expect(result.err).toMatch(/newer Dragoman/);
  expect(result.err).toContain("99");
  expect(result.err).toContain("--data");
  const after = new DatabaseSync(file);
  expect(after.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
  after.close();
});

test("a database of another program is refused and not changed", async () => {
  mkdirSync(data);
  const db = new DatabaseSync(join(data, "dragoman.db"));
  db.exec("CREATE TABLE recipes (name TEXT); PRAGMA user_version = 1; PRAGMA application_id = 7");
  db.close();
  const result = await refused();
  expectPlain(result);
  expect(result.err).toMatch(/another program/);
});

test("a file that is no database is refused and not changed", async () => {
  mkdirSync(data);
  const file = join(data, "dragoman.db");
  writeFileSync(file, "Dear diary, ".repeat(1_000));
  const result = await refused();
  expectPlain(result);
  expect(result.err).toContain(file);
  expect(readFileSync(file, "utf8").startsWith("Dear diary")).toBe(true);
});

test("a folder that cannot be written is refused with its name and a remedy", async ({ skip }) => {
  // Root may write everywhere, so as root the server runs as an unprivileged user.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined;
  chmodSync(folder.path, 0o755);
  mkdirSync(data);
  chmodSync(data, 0o555);
  const result = await refused(uid === undefined ? {} : { uid });
  if (/EACCES.*(\.ts|node_modules)|Cannot find module/.test(result.err))
    return skip("NOT TESTED: the repository cannot be read by an unprivileged user");
  expectPlain(result);
  expect(result.err).toContain(data);
  expect(result.err).toContain("--data");
});

test("a folder that cannot be created is refused with its name and a remedy", async () => {
  writeFileSync(data, "a file stands where the folder should be");
  const result = await refused();
  expectPlain(result);
  expect(result.err).toContain(data);
  expect(result.err).toContain("--data");
});

test("a port that is in use is refused, and the folder is unlocked again", async () => {
  const other = createServer();
  await new Promise<void>(resolve => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  try {
    const result = await refused({ port });
    expectPlain(result);
    expect(result.err).toContain(String(port));
    expect(result.err).toContain("--port");
  } finally {
    other.close();
  }
  const server = await start();
  expect(await sendText(server.url)).toBe("completed");
});
