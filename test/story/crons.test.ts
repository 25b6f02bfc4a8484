import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import { langgraph } from "../../src/runtime/langgraph/index.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** The run of a cron begins once at each of its times, over restarts and nodes. */

let postgres: TestPostgres;
let servers: TestServer[] = [];
const folder = tempFolder();
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(servers.map(server => server.stop()));
  servers = [];
});
afterAll(async () => {
  await postgres.stop();
  folder.remove();
});

const heard: string[] = [];
const listener = agent({
  name: "listener",
  run(task) {
    heard.push(`${task.contextId}: ${task.text}`);
    return "heard";
  },
});

const configs: LangGraphRunnableConfig[] = [];
const Empty = Annotation.Root({ text: Annotation<string> });
const graph = new StateGraph(Empty)
  .addNode("look", (_state, config) => {
    configs.push(config);
    return { text: "seen" };
  })
  .addEdge(START, "look");
const looker = langgraph(graph.compile(), { name: "looker" });

async function start(data: string, count = 1): Promise<Client> {
  servers = await Promise.all(Array.from({ length: count }, () => serve([listener, looker], { data })));
  return new Client({ apiUrl: servers[0]?.url as string, apiKey: null, callerOptions: { maxRetries: 0 } });
}
async function stopAll(): Promise<void> {
  await Promise.all(servers.map(server => server.stop()));
  servers = [];
}
const cronsOf = async (client: Client) =>
  (await client.crons.search()) as unknown as { next_run_date: string; thread_id: string | null }[];

/** Creates two crons, lets the server stop, and moves their times into the past. */
async function prepare(data: string, moveBack: () => Promise<void>): Promise<string> {
  heard.length = 0;
  const client = await start(data);
  const thread = await client.threads.create();
  await client.crons.createForThread(thread.thread_id, "listener", {
    schedule: "0 0 1 1 *",
    input: { messages: [{ role: "user", content: "in a thread" }] },
  });
  await client.crons.create("listener", {
    schedule: "0 0 1 1 *",
    input: { messages: [{ role: "user", content: "alone" }] },
  });
  await stopAll();
  await moveBack();
  return thread.thread_id;
}

/** Both runs begin, each once, and the crons have their next time. */
async function expectOnce(client: Client, threadId: string): Promise<void> {
  await expect.poll(() => heard.length).toBe(2);
  await expect
    .poll(async () => (await cronsOf(client)).every(one => Date.parse(one.next_run_date) > Date.now()))
    .toBe(true);
  expect(heard.filter(line => line === `${threadId}: in a thread`)).toHaveLength(1);
  const [alone, ...others] = heard.filter(line => line.endsWith(": alone"));
  expect([typeof alone, others]).toEqual(["string", []]);
  // The thread of a run that has none of the caller's is deleted later.
  const id = (alone as string).split(":")[0] as string;
  const thread = await client.threads.get(id, { include: ["ttl"] });
  expect(thread.metadata).toMatchObject({ graph_id: "listener" });
  expect(thread).toMatchObject({ ttl: { strategy: "delete" } });
}

const moveBackIn = (path: string) => async (): Promise<void> => {
  const db = new DatabaseSync(join(path, "dragoman.db"));
  db.exec("UPDATE schedule SET next_at = 1000");
  db.close();
};

test("the run has the config and the context of its assistant", async () => {
  const own = tempFolder();
  const client = await start(own.path);
  const { assistant_id } = await client.assistants.create({
    graphId: "looker",
    config: { configurable: { colour: "red", size: 1 } },
    context: { language: "de" },
  });
  const cron = await client.crons.create(assistant_id, {
    schedule: "0 0 1 1 *",
    input: { text: "" },
    config: { configurable: { size: 2 } },
  });
  expect(cron.assistant_id).toBe(assistant_id);
  const byName = await client.crons.create("looker", { schedule: "0 0 1 1 *", input: { text: "" } });
  expect(byName.assistant_id).toBe((await client.assistants.get("looker")).assistant_id);
  await client.crons.delete(byName.cron_id);
  await stopAll();
  await moveBackIn(own.path)();
  await start(own.path);
  await expect.poll(() => configs.length).toBe(1);
  expect(configs[0]?.configurable).toMatchObject({ colour: "red", size: 2, assistant_id });
  expect(configs[0]?.context).toMatchObject({ language: "de" });
  await stopAll();
  own.remove();
});

test("times that were missed begin one run at the next start, and none at the one after", async () => {
  const threadId = await prepare(folder.path, moveBackIn(folder.path));
  await expectOnce(await start(folder.path), threadId);
  await stopAll();
  const client = await start(folder.path);
  expect(await cronsOf(client)).toHaveLength(2);
  expect(heard).toHaveLength(2);
});

test("a run that began before the crash is not begun again, although its time was not moved on", async () => {
  await stopAll();
  heard.length = 0;
  // The same times as in the test before: their runs are recorded.
  await moveBackIn(folder.path)();
  const client = await start(folder.path);
  await expect
    .poll(async () => (await cronsOf(client)).every(one => Date.parse(one.next_run_date) > Date.now()))
    .toBe(true);
  expect(heard).toEqual([]);
});

test("of many nodes on one Postgres one begins the run", async () => {
  const url = await postgres.createDatabase();
  const threadId = await prepare(url, async () => {
    const db = new pg.Client(url);
    await db.connect();
    await db.query("UPDATE schedule SET next_at = 1000");
    await db.end();
  });
  await expectOnce(await start(url, 3), threadId);
  expect(heard).toHaveLength(2);
});
