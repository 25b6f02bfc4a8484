import { once } from "node:events";
import { chmodSync, cpSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RecordedEvent } from "../../src/model/index.ts";
import { readPostgresHistory } from "../../src/store/postgres/maintenance/history.ts";
import { readTaskHistory } from "../../src/store/sqlite/maintenance/history.ts";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, until } from "../support/client.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { startPostgres } from "../support/postgres.ts";
import { tempFolder } from "../support/server.ts";
import { isOnPostgres } from "../support/test-store.ts";

/**
 * Data that an older version wrote. The fixture is the data folder of a server at commit 889893c (schema 7), which was
 * killed while a task was running; its SQLite files are checkpointed. `postgres.sql` is the schema of that commit (schema 4)
 * and the rows that its server wrote for the same calls. `expected.json` has the tokens, the responses of the old server
 * and the events that it recorded. The keys and tokens were generated for this test.
 */
const FIXTURE = new URL("../fixtures/data-folder-889893c/", import.meta.url).pathname;
/** The webhook of the fixture. */
const [HOOK_HOST, HOOK_PORT] = ["127.88.98.93", 47931] as const;

const AGENT = `
    if (task.text === "recall") return yield ctx.data({ items: await ctx.storage.list({ prefix: "", max: 10 }) });
    yield ctx.text("You said " + task.text + " in turn " + task.turn);`;

interface Expected {
  readonly token: string;
  readonly revokedToken: string;
  readonly ids: Readonly<Record<string, string>>;
  readonly tasks: Readonly<Record<string, Loose>>;
  readonly listed: readonly string[];
  readonly pushConfigs: Loose;
  readonly keyedParams: Loose;
  readonly usage: Loose;
  readonly tokens: readonly Loose[];
  /** Of the long log: the first three events and the last one. */
  readonly histories: Readonly<Record<string, readonly RecordedEvent[]>>;
  readonly longEvents: number;
}

const readExpected = (file: string): Expected => JSON.parse(readFileSync(join(FIXTURE, file), "utf8"));

let folder: ReturnType<typeof tempFolder>;
let hook: Server;
/** The notification token and the state of each delivery. */
let delivered: [token: string, state: string | undefined][];
beforeEach(async () => {
  folder = tempFolder();
  delivered = [];
  hook = createServer(async (request, response) => {
    const body = JSON.parse((await Array.fromAsync(request)).join(""));
    const token = String(request.headers["x-a2a-notification-token"]);
    delivered.push([token, V1.toItem({ result: body }).state]);
    response.writeHead(204).end();
  }).listen(HOOK_PORT, HOOK_HOST);
  await once(hook, "listening");
});
afterEach(async () => {
  await endChildren();
  hook.close();
  folder.remove();
});

async function openSqlite(): Promise<{ data: string; expected: Expected }> {
  const data = join(folder.path, "data");
  cpSync(FIXTURE, data, { recursive: true, filter: source => !/\.sql$|expected\.json$/.test(source) });
  // Git does not store the mode of the file, and the server requires it.
  chmodSync(join(data, "keys.json"), 0o600);
  return { data, expected: readExpected("expected.json") };
}

async function openPostgres(): Promise<{ data: string; expected: Expected }> {
  const data = await (await startPostgres()).createDatabase();
  const client = new Client({ connectionString: data });
  await client.connect();
  await client.query(readFileSync(join(FIXTURE, "postgres.sql"), "utf8"));
  await client.end();
  return { data, expected: readExpected("postgres-expected.json") };
}

const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const readHistory = async (data: string, id: string) =>
  data.includes("://") ? readPostgresHistory({ url: data, log: LOG }, id) : readTaskHistory(data, id);

const launch = (data: string): Promise<Child> =>
  startChild({
    agents: [writeAgent(folder.path, "worker", AGENT)],
    data,
    flags: ["--log-level", "error", "--auth", "tokens", "--push-allow-loopback"],
  });

const readLines = (out: string): Loose[] =>
  out
    .trim()
    .split("\n")
    .map(line => JSON.parse(line));

// If all tests use Postgres, the folder cannot be served.
const STORES = [
  ["SQLite", openSqlite, isOnPostgres],
  ["Postgres", openPostgres, false],
] as const;

describe.each(STORES.filter(([, , isSkipped]) => !isSkipped))("data of an older version in %s", (_, open) => {
  test("tasks, events, push configs, tokens, usage and storage are served as before", async () => {
    const { data, expected } = await open();
    const { url } = await launch(data);
    const headers = { authorization: `Bearer ${expected.token}` };
    const { crashed, ...settled } = expected.ids;
    for (const [name, id] of Object.entries(settled))
      expect(await rpcResult(url, V1.get, { id }, headers), name).toEqual(expected.tasks[name]);
    const { tasks } = await rpcResult(url, V1.list, { pageSize: 50 }, headers);
    expect(tasks.map((task: Loose) => task.id).toSorted()).toEqual(expected.listed.toSorted());
    expect(await rpcResult(url, V1.push[2] as string, { taskId: settled.asked }, headers)).toEqual(
      expected.pushConfigs,
    );
    for (const [name, id] of Object.entries(settled)) {
      const events = (await readHistory(data, id))?.events ?? [];
      if (name !== "long") expect(events, name).toEqual(expected.histories[name]);
      else expect([...events.slice(0, 3), events.at(-1)]).toEqual(expected.histories[name]);
      if (name === "long") expect(events).toHaveLength(expected.longEvents);
    }
    const revoked = { authorization: `Bearer ${expected.revokedToken}` };
    expect((await rpc(url, V1.get, { id: settled.streamed }, revoked)).status).toBe(401);
    const tokens = readLines((await runCli("token", "list", "--data", data, "--all", "--json")).out);
    const withoutUse = (token: Loose): Loose => ({ ...token, lastUsedAt: null });
    expect(tokens.map(withoutUse)).toEqual(expected.tokens);
    const by = ["principal", "agent", "context"].flatMap(dimension => ["--by", dimension]);
    const usage = await runCli("usage", "--data", data, ...by, "--from", "2020-01-01", "--json");
    expect(readLines(usage.out)).toEqual([expected.usage]);
    const recalled = await rpcResult(
      url,
      V1.send,
      V1.sendParams("recall", { contextId: "old-context" }),
      headers,
    );
    expect(recalled.task.artifacts[0].parts[0].data.items).toEqual([
      { key: "color", value: "blue" },
      { key: "size", value: { width: 3 } },
    ]);
    expect(crashed).toBeDefined();
  });

  test("new tasks can be created on it", async () => {
    const { data, expected } = await open();
    const { url } = await launch(data);
    const headers = { authorization: `Bearer ${expected.token}` };
    const textOf = (task: Loose): string => task.artifacts[0].parts[0].text;
    const { asked, crashed, keyed } = expected.ids;
    // The waiting task accepts its answer, and its webhook is called, with the token that was encrypted with
    // the old keys.
    const answered = await rpcResult(url, V1.send, V1.sendParams("green", { taskId: asked }), headers);
    expect(textOf(answered.task)).toBe("You said green in turn 2");
    await until(() => delivered.at(-1)?.[1] === "completed");
    expect(new Set(delivered.map(([token]) => token))).toEqual(new Set(["old-secret"]));
    // The interrupted run is repeated, after the text that it had written.
    let task: Loose;
    await until(
      async () => V1.stateOf((task = await rpcResult(url, V1.get, { id: crashed }, headers))) === "completed",
    );
    expect(textOf(task)).toContain("You said crash in turn 1");
    // A repeated call is recognized by its key, and a new one is not.
    const repeated = await rpcResult(url, V1.send, expected.keyedParams, {
      ...headers,
      "idempotency-key": "old-key",
    });
    expect(repeated.task.id).toBe(keyed);
    const created = await rpcResult(
      url,
      V1.send,
      V1.sendParams("new", { contextId: "old-context" }),
      headers,
    );
    expect(textOf(created.task)).toBe("You said new in turn 1");
    const { tasks } = await rpcResult(url, V1.list, { contextId: "old-context" }, headers);
    expect(tasks.map((one: Loose) => one.id)).toEqual([created.task.id, expected.ids.streamed]);
  });
});
