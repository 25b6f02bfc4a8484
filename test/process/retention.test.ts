import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createScriptedAgent, echo, replier } from "../support/agents.ts";
import { endChildren, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { openStream, rpc, until } from "../support/client.ts";
import { rpcError, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

let folder: ReturnType<typeof tempFolder>;
let server: TestServer | undefined;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await endChildren();
  folder.remove();
});

const start = async (definitions: readonly AgentDefinition[], data: string): Promise<string> =>
  (server = await serve(definitions, { data, sweepMs: 10 })).url;
const list = async (url: string) => rpcResult(url, "ListTasks", { pageSize: 100 });
const send = async (url: string, text = "hi", headers = {}) =>
  V1.taskIn(await rpcResult(url, "SendMessage", V1.sendParams(text), headers)).id as string;
const isGone = async (url: string, id: string): Promise<boolean> =>
  (await rpc(url, "GetTask", { id })).body.error?.code === -32001;

describe.each(["memory", "SQLite"])("a server on %s", name => {
  const data = (): string => (name === "memory" ? ":memory:" : folder.path);

  test("removes tasks that settled long ago, and keeps those of agents without a retention", async () => {
    const brief = { ...echo, name: "brief", retention: { ageMs: 50 } };
    const url = await start([brief, echo], data());
    const ids = await Promise.all(Array.from({ length: 50 }, () => send(url)));
    const other = await send(`${url}/agents/echo`);
    await until(async () => (await list(url)).totalSize === 0);
    for (const id of ids) expect(await isGone(url, id)).toBe(true);
    expect(await isGone(`${url}/agents/echo`, other)).toBe(false);
  });

  test("keeps the newest of each caller", async () => {
    const url = await start([{ ...echo, retention: { count: 3 } }], data());
    const ids: string[] = [];
    for (let i = 0; i < 10; i++) ids.push(await send(url));
    await until(async () => (await list(url)).totalSize === 3);
    expect((await list(url)).tasks.map((task: { id: string }) => task.id)).toEqual(ids.slice(-3).reverse());
  });

  test("keeps running tasks, however old they are", async () => {
    const puppet = createScriptedAgent({ retention: { ageMs: 20, count: 0 } });
    const url = await start([puppet.definition], data());
    const { id } = await startTask(url, V1, "go");
    const younger = (await startTask(url, V1, "go")).id;
    puppet.end(younger);
    await until(() => isGone(url, younger));
    expect(await isGone(url, id)).toBe(false);
    puppet.send(id, ctx => ctx.text("still here"));
    puppet.end(id);
    await until(() => isGone(url, id));
  });

  test("an unanswered question is removed as well, and its readers get the end", async () => {
    const puppet = createScriptedAgent({ retention: { ageMs: 20 } });
    const url = await start([puppet.definition], data());
    const { id } = await startTask(url, V1, "book");
    await untilState(url, id, "working");
    // A reader that joins before the question: the question may be removed a moment later.
    const stream = await openStream(url, "SubscribeToTask", { id });
    puppet.send(id, ctx => ctx.ask("Which colour?"));
    const events = await stream.all();
    expect(V1.toItem(events[0]?.data).kind).toBe("task");
    expect(events.at(-1)?.data.error.code).toBe(-32001);
    expect((await rpcError(url, "SendMessage", V1.sendParams("red", { taskId: id }))).code).toBe(-32001);
  });

  test("a call with a key can be repeated for a day, whatever the retention", async () => {
    const url = await start([{ ...echo, retention: { ageMs: 20, count: 0 } }], data());
    const params = V1.sendParams("hello");
    const key = { "idempotency-key": "k" };
    const first = await rpcResult(url, "SendMessage", params, key);
    const other = await send(url);
    await until(() => isGone(url, other));
    expect(await rpcResult(url, "SendMessage", params, key)).toEqual(first);
  });

  test("bare replies are removed, too", async () => {
    const url = await start([{ ...replier, retention: { ageMs: 20 } }], data());
    await rpcResult(url, "SendMessage", V1.sendParams("hello"));
    if (name === "memory") return;
    const db = new DatabaseSync(join(folder.path, "dragoman.db"), { readOnly: true });
    await until(() => db.prepare("SELECT count(*) AS n FROM task").get()?.n === 0);
    db.close();
  });
});

test("a removed task leaves no row behind, and callers are not affected", async () => {
  const url = await start([{ ...echo, retention: { ageMs: 100 } }], folder.path);
  const workers = Array.from({ length: 4 }, async (_, worker) => {
    for (let i = 0; i < 100; i++) {
      await send(url, `${worker}.${i}`);
    }
  });
  await Promise.all(workers);
  await until(async () => (await list(url)).totalSize === 0);
  await server?.stop();
  server = undefined;
  const db = new DatabaseSync(join(folder.path, "dragoman.db"));
  for (const table of ["task", "segment", "name"])
    expect(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n).toBe(0);
  db.close();
});

test("a sweep that cannot write is logged and retried", async () => {
  const url = await start([{ ...echo, retention: { ageMs: 20 } }], folder.path);
  const db = new DatabaseSync(join(folder.path, "dragoman.db"));
  db.exec("CREATE TRIGGER keep BEFORE DELETE ON task BEGIN SELECT RAISE(ABORT, 'kept'); END");
  const id = await send(url);
  await until(() => server?.log.lines.some(line => line.level === "warn") === true);
  expect(await isGone(url, id)).toBe(false);
  db.exec("DROP TRIGGER keep");
  db.close();
  await until(() => isGone(url, id));
});

test("a task whose record was damaged does not keep the others from being swept", async () => {
  const url = await start([echo], folder.path);
  const [damaged, other] = [await send(url), await send(url)];
  await server?.stop();
  const db = new DatabaseSync(join(folder.path, "dragoman.db"));
  db.prepare('UPDATE task SET whole = \'[[1,{"type":"cre\' WHERE id = ?').run(damaged);
  await start([{ ...echo, retention: { eventsAgeMs: 1 } }], folder.path);
  const since = db.prepare("SELECT since FROM task WHERE id = ?");
  await until(() => (since.get(other)?.since as number) > 0);
  expect(since.get(damaged)?.since).toBe(0);
  // Nor does it fail lists.
  const { tasks } = await list(server?.url as string);
  expect(tasks.map((task: { id: string }) => task.id)).toEqual([other]);
  await server?.stop();
  const again = await start([{ ...echo, retention: { ageMs: 1 } }], folder.path);
  await until(async () => (await list(again)).totalSize === 0);
  db.close();
});

describe("tasks purge", () => {
  const launch = () =>
    startChild({ data: folder.path, flags: ["--default", "echo", "--log-level", "error"] });
  const purge = (...flags: string[]) => runCli("tasks", "purge", "--data", folder.path, ...flags);

  test("refuses while a server runs, and reports what it would do", async () => {
    const { url, pid } = await launch();
    await send(url);
    const refusal = await purge("--keep", "0");
    expect(refusal).toMatchObject({ code: 1, out: "" });
    expect(refusal.err).toContain(`in use by another Dragoman server (process ${pid})`);
    expect(await purge("--keep", "0", "--dry-run")).toMatchObject({
      code: 0,
      out: "1 task would be deleted\n",
    });
    expect((await list(url)).totalSize).toBe(1);
  });

  test("removes old tasks of a stopped server, of one agent or of all, except unfinished ones and those with a key", async () => {
    const first = await launch();
    for (let i = 0; i < 5; i++) await send(first.url);
    await send(first.url, "keyed", { "idempotency-key": "k" });
    const booking = `${first.url}/agents/booking`;
    const asked = V1.taskIn(await rpcResult(booking, "SendMessage", V1.sendParams("book"))).id;
    const slow = `${first.url}/agents/slow`;
    const unfinished = (await startTask(slow, V1, "work for 60 seconds")).id;
    await untilState(slow, unfinished, "working");
    await first.kill();
    expect(await purge("--agent", "echo", "--keep", "2")).toMatchObject({
      code: 0,
      out: "4 tasks deleted\n",
    });
    expect(await purge("--older-than", "1h")).toMatchObject({ code: 0, out: "0 tasks deleted\n" });
    const rest = await purge("--older-than", "0s");
    expect(rest).toMatchObject({ code: 0, out: "2 tasks deleted\n" });
    expect(rest.err).toContain("1 task kept for a day");
    expect((await runCli("doctor", "--data", folder.path)).code).toBe(0);
    const { url } = await launch();
    expect((await list(url)).totalSize).toBe(1);
    expect(await isGone(`${url}/agents/booking`, asked)).toBe(true);
    expect(await isGone(`${url}/agents/slow`, unfinished)).toBe(false);
  });

  test.each([
    [[], "--older-than AGE or --keep COUNT"],
    [["--older-than", "7 days"], "30d, 12h, 90min or 60s"],
    [["--keep", "-1"], "whole number"],
    [["--keep", "1", "--agent", "nobody"], 'no tasks of an agent "nobody"'],
  ])("with the flags %j it reports what is missing", async (flags, message) => {
    await (await launch()).stop();
    const { code, err } = await purge(...flags);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });
});
