import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { StoreReport } from "../../src/ports/index.ts";
import { checkStore } from "../../src/store/sqlite/maintenance/check.ts";
import { asker, createScriptedAgent, echo, replier } from "../support/agents.ts";
import { endChildren, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { until } from "../support/client.ts";
import { getTask, type Loose, rpcResult, startTask, V1 } from "../support/official-dialects.ts";
import { serve, tempFolder } from "../support/server.ts";

/** A store with data of every kind; each test damages a copy of it. */
let sound: ReturnType<typeof tempFolder>;
const ids: Record<string, string> = {};
let copies: ReturnType<typeof tempFolder>[] = [];

const long = {
  name: "long",
  async *run(_task: unknown, ctx: Loose) {
    for (let i = 0; i < 1_500; i++) {
      yield ctx.text(`${i},`);
      if (i % 100 === 0) await new Promise(resolve => setImmediate(resolve));
    }
  },
};

beforeAll(async () => {
  sound = tempFolder();
  const puppet = createScriptedAgent();
  const brief = { ...long, name: "brief", retention: { eventsAgeMs: 1 } };
  const agents = [echo, asker, replier, long, brief, puppet.definition];
  const server = await serve(agents, { data: sound.path, sweepMs: 10, drainMs: 10 });
  const send = async (agent: string, text: string, headers = {}): Promise<string> =>
    V1.taskIn(await rpcResult(`${server.url}/agents/${agent}`, "SendMessage", V1.sendParams(text), headers))
      ?.id;
  ids.echo = await send("echo", "hello");
  ids.keyed = await send("echo", "hello", { "idempotency-key": "k" });
  ids.asked = await send("asker", "book");
  ids.long = await send("long", "go");
  ids.compacted = await send("brief", "go", { "idempotency-key": "k" });
  await send("replier", "hello");
  ids.unfinished = (await startTask(`${server.url}/agents/puppet`, V1, "go")).id;
  puppet.send(ids.unfinished as string, ctx => ctx.text("so far"));
  await until(async () => {
    const task = await getTask(`${server.url}/agents/puppet`, ids.unfinished as string);
    return task.artifacts !== undefined && isCompacted();
  });
  await server.stop();
});
const isCompacted = (): boolean => {
  const db = new DatabaseSync(join(sound.path, "dragoman.db"), { readOnly: true });
  const row = db.prepare("SELECT since FROM task WHERE id = ?").get(ids.compacted as string);
  db.close();
  return (row?.since as number) > 0;
};
afterEach(async () => {
  await endChildren();
  for (const copy of copies) copy.remove();
  copies = [];
});
afterAll(() => sound.remove());

const WATCH = { onProgress: () => {}, signal: new AbortController().signal };
const examine = (folder: string): Promise<StoreReport> => checkStore(folder, WATCH);

/** A copy of the intact store, after a change. */
function damaged(sql: string): string {
  const copy = tempFolder();
  copies.push(copy);
  copyFileSync(join(sound.path, "dragoman.db"), join(copy.path, "dragoman.db"));
  const db = new DatabaseSync(join(copy.path, "dragoman.db"));
  db.exec(sql.replace(/\$(\w+)/g, (_, name) => `(SELECT key FROM task WHERE id = '${ids[name]}')`));
  db.close();
  return copy.path;
}

test("an intact store is reported as such, with its contents", async () => {
  const report = await examine(sound.path);
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ tasks: 7, names: 2, unfinished: { puppet: 1 }, findingsCount: 0 });
  expect(report.events).toBeGreaterThan(1_500);
  expect(report.events).toBeLessThan(1_700);
});

test("the command reports it as text and as JSON, with an exit code, and changes nothing", async () => {
  const file = join(sound.path, "dragoman.db");
  const before = readFileSync(file);
  const { code, out, err } = await runCli("doctor", "--data", sound.path);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain(file);
  expect(out).toMatch(/tasks +7, 1 of them unfinished \(puppet 1\)/);
  expect(out.endsWith("no problems found\n")).toBe(true);
  const json = await runCli("doctor", "--data", sound.path, "--json");
  expect(JSON.parse(json.out)).toEqual(await examine(sound.path));
  expect(readFileSync(file).equals(before)).toBe(true);

  const folder = damaged("DELETE FROM segment WHERE task = $long AND last < 300");
  const broken = await runCli("doctor", "--data", folder);
  expect(broken.code).toBe(1);
  expect(broken.out).toMatch(/\d+ problems?:\n {2}task /);
  expect(broken.out).toContain(ids.long);
});

test("the size of a store is that of its database and of its write-ahead log", async () => {
  const file = join(damaged(""), "dragoman.db");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE other (n INTEGER)");
  const [whole, log] = [statSync(file).size, statSync(`${file}-wal`).size];
  expect(log).toBeGreaterThan(0);
  expect((await examine(dirname(file))).bytes).toBe(whole + log);
  db.close();
});

/** A change of an intact store, and the finding. */
const DAMAGES: readonly (readonly [what: string, sql: string, finding: RegExp])[] = [
  [
    "missing events",
    "UPDATE segment SET last = last + 7 WHERE task = $long AND last = (SELECT max(last) FROM segment WHERE task = $long)",
    /task .* event \d+ follows event \d+/,
  ],
  [
    "a missing beginning",
    "DELETE FROM segment WHERE task = $unfinished AND last < 4",
    /cannot follow: the task is not created|follows event 0/,
  ],
  [
    "a missing end",
    "DELETE FROM segment WHERE task = $long AND last = (SELECT max(last) FROM segment WHERE task = $long)",
    /its state is completed, but its events result in working/,
  ],
  [
    "a log that is no JSON",
    'UPDATE segment SET events = \'[[1,{"type":"cre\' WHERE task = $unfinished',
    /cannot be read/,
  ],
  [
    "events that cannot follow each other",
    "UPDATE task SET whole = replace(whole, '\"completed\"', '\"input-required\"') WHERE key = $echo",
    /its state is completed, but its events result in input-required/,
  ],
  [
    "a snapshot of another task",
    "UPDATE task SET snapshot = replace(snapshot, '1,2,', '2,1,') WHERE key = $long",
    /its snapshot at event \d+ does not match its events/,
  ],
  [
    "a compacted task without its snapshot",
    "UPDATE task SET snapshot = NULL WHERE key = $compacted",
    /there is no snapshot/,
  ],
  [
    "a state that differs from the log",
    "UPDATE task SET state = 5 WHERE key = $echo",
    /its state is failed, but its events result in completed/,
  ],
  [
    "a time that differs from the log",
    "UPDATE task SET status_at = 7 WHERE key = $echo",
    /the time of its status is 7/,
  ],
  [
    "a task in another context",
    "UPDATE task SET context_id = 'elsewhere' WHERE key = $echo",
    /its context is elsewhere/,
  ],
  [
    "a task of another owner",
    "INSERT INTO owner (tenant, principal, agent) VALUES ('', '', 'thief'); UPDATE task SET owner = (SELECT id FROM owner WHERE agent = 'thief') WHERE key = $echo",
    /its agent is thief/,
  ],
  [
    "a task that lists omit",
    "UPDATE task SET hidden = 1 WHERE key = $echo",
    /hidden is true, but its events result in false/,
  ],
  ["a wrong id", "UPDATE task SET id = 'nobody' WHERE key = $echo", /its id does not match its key/],
  ["rows of logs without a task", "DELETE FROM task WHERE key = $long", /rows of logs without a task: \d+/],
  [
    "staged rows without a task",
    "INSERT INTO staged VALUES (1, 7, 1, '[]')",
    /staged rows without a task: 1/,
  ],
  ["names without a task", "DELETE FROM task WHERE key = $keyed", /names without a task: 1/],
  ["tasks without an owner", "DELETE FROM owner WHERE agent = 'asker'", /tasks without an owner: 1/],
  [
    "a name that points to the wrong event",
    "UPDATE name SET seq = 1 WHERE task = $keyed",
    /the name "k" is not in event 1/,
  ],
  ["a missing name", "DELETE FROM name WHERE task = $keyed", /the name "k" of event 2 is missing/],
  [
    "a name that belongs to another owner",
    "UPDATE name SET owner = owner + 1, name = 'x' WHERE task = $keyed",
    /belongs to another owner/,
  ],
];

describe("every damage is found and named", () => {
  test.each(DAMAGES)("%s", async (_what, sql, finding) => {
    const { findings, findingsCount } = await examine(damaged(sql));
    expect(findingsCount).toBeGreaterThan(0);
    expect(findings.join("\n")).toMatch(finding);
  });

  test("a torn file", async () => {
    const folder = damaged("SELECT 1");
    const file = join(folder, "dragoman.db");
    const bytes = readFileSync(file);
    for (let at = 3 * 4096; at < bytes.length; at += 3 * 4096) bytes.fill(0x5a, at, at + 2048);
    writeFileSync(file, bytes);
    const { findings } = await examine(folder);
    expect(findings.join("\n")).toMatch(/the file/);
  });

  test("many findings are counted and not all listed", async () => {
    const folder = damaged(
      "DELETE FROM segment WHERE task = $long AND last = (SELECT min(last) FROM segment WHERE task = $long)",
    );
    const { findings, findingsCount } = await examine(folder);
    expect(findings.length).toBe(100);
    expect(findingsCount).toBeGreaterThan(1_000);
  });
});

test("a file that is no store of this server is refused with its name and a remedy", async () => {
  const empty = tempFolder();
  copies.push(empty);
  await expect(examine(empty.path)).rejects.toThrow(/There is no store in .*--data DIR/);
  const file = join(empty.path, "dragoman.db");
  writeFileSync(file, "");
  await expect(examine(empty.path)).rejects.toThrow(/is empty/);
  writeFileSync(file, "Dear diary, ".repeat(1_000));
  await expect(examine(empty.path)).rejects.toThrow(/cannot be opened: file is not a database/);
  await expect(examine(damaged("PRAGMA user_version = 99"))).rejects.toThrow(/newer Dragoman/);
  await expect(examine(damaged("PRAGMA user_version = 1"))).rejects.toThrow(/older Dragoman.*Start a server/);
  await expect(examine(damaged("PRAGMA application_id = 7"))).rejects.toThrow(/another program/);
  const memory = await runCli("doctor", "--data", ":memory:");
  expect([memory.code, memory.out]).toEqual([1, ""]);
  expect(memory.err).toContain("--data :memory:");
});

test("it reads the store of a server that is writing, and sees only whole commits", async () => {
  const folder = tempFolder();
  copies.push(folder);
  const { url } = await startChild({
    data: folder.path,
    flags: ["--default", "echo", "--log-level", "error"],
  });
  let stopped = false;
  const workers = Array.from({ length: 4 }, async () => {
    while (!stopped)
      await rpcResult(url, "SendMessage", V1.sendParams("hello"), { "idempotency-key": crypto.randomUUID() });
  });
  let seen = 0;
  for (let i = 0; i < 5; i++) {
    const { findings, tasks, names } = await examine(folder.path);
    expect([findings, names]).toEqual([[], tasks]);
    expect(tasks).toBeGreaterThanOrEqual(seen);
    seen = tasks;
  }
  stopped = true;
  await Promise.all(workers);
  expect(seen).toBeGreaterThan(0);
  expect(readdirSync(folder.path)).toContain("dragoman.pid");
});

describe("a store with staged rows", () => {
  const puppet = createScriptedAgent();
  const TEXTS = ["one ", "two ", "three "];

  /** A copy of the files of a running server, as a crash leaves them. */
  async function copyRunning(): Promise<{ readonly folder: string; readonly id: string }> {
    const [live, copy] = [tempFolder(), tempFolder()];
    copies.push(live, copy);
    const server = await serve([puppet.definition], { data: live.path, drainMs: 10 });
    const { id } = await startTask(`${server.url}/agents/puppet`, V1, "go");
    for (const text of TEXTS) {
      puppet.send(id as string, ctx => ctx.text(text));
      await until(async () =>
        JSON.stringify(await getTask(`${server.url}/agents/puppet`, id as string)).includes(text),
      );
    }
    expect((await examine(live.path)).findings).toEqual([]);
    expect((await runCli("why", id as string, "--data", live.path)).out).toMatch(/3 chunks/);
    for (const name of ["dragoman.db", "dragoman.db-wal", "dragoman.store", "keys.json"])
      copyFileSync(join(live.path, name), join(copy.path, name));
    await server.stop();
    return { folder: copy.path, id: id as string };
  }

  const countStaged = (folder: string): unknown => {
    const db = new DatabaseSync(join(folder, "dragoman.db"));
    const row = db.prepare("SELECT count(*) AS staged FROM staged").get();
    db.close();
    return row?.staged;
  };

  test("is read while the server runs, and loses nothing in a crash", async () => {
    const { folder, id } = await copyRunning();
    expect(countStaged(folder)).toBeGreaterThan(1);
    const idle = { ...echo, name: "other" };
    const server = await serve([idle], { data: folder });
    expect(countStaged(folder)).toBe(0);
    await server.stop();
    const report = await examine(folder);
    expect(report.findings).toEqual([]);
    const { out } = await runCli("why", id, "--data", folder);
    expect(out).toMatch(/3 chunks/);
  });

  test("is checked: a damaged row is found and named", async () => {
    const { folder, id } = await copyRunning();
    const db = new DatabaseSync(join(folder, "dragoman.db"));
    db.exec("UPDATE staged SET events = '[[1,' WHERE id = (SELECT max(id) FROM staged)");
    db.close();
    expect((await examine(folder)).findings.join("\n")).toContain(`task ${id}: it cannot be read`);
  });
});
