import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { adminEvents } from "../support/admin-client.ts";
import { echo } from "../support/agents.ts";
import { rpc, until } from "../support/client.ts";
import { TableLock } from "../support/database-lock.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { startTask, untilState, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";

/** A server on Postgres begins a new task before the commit that records it; callers notice nothing but the time. */

let postgres: TestPostgres;
let data: string;
let side: Client;
let servers: TestServer[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
beforeEach(async () => {
  data = await postgres.createDatabase();
  side = new Client({ connectionString: data });
  await side.connect();
});
afterEach(async () => {
  await Promise.all(servers.map(server => server.stop()));
  servers = [];
  await side.end();
});
afterAll(() => postgres.stop());

async function start(agents: AgentDefinition[], settings: object = {}): Promise<string> {
  const server = await serve(agents, { data, ...settings });
  servers.push(server);
  return server.url;
}

/** An agent whose runs wait at the gate of their message, and are listed when they begin. */
function gated() {
  const gates = new Map<string, Gate>();
  const begun: string[] = [];
  const gateOf = (text: string): Gate => {
    const gate = gates.get(text) ?? createGate();
    gates.set(text, gate);
    return gate;
  };
  const agent: AgentDefinition = {
    name: "gated",
    replies: "task",
    async run(task, ctx) {
      begun.push(`${task.text} ${ctx.attempt}`);
      await gateOf(task.text).opened;
      return "done";
    },
  };
  return { agent, begun, open: (text: string) => gateOf(text).open() };
}
/** Resolves when the server begins new tasks before their commit: when it has found that no task waits. */
async function untilReady(url: string): Promise<void> {
  await until(async () => {
    const { body } = await rpc(`${url}/agents/echo`, "SendMessage", V1.sendParams("first"));
    const rows = await side.query("SELECT 1 FROM segment s JOIN task t ON t.key = s.task WHERE t.id = $1", [
      body.result.task.id,
    ]);
    return rows.rows.length === 1;
  });
}

it("it does not overtake a task that waits for the only run of its server", async () => {
  const { agent, begun, open } = gated();
  const url = await start([agent], { runsMax: 1 });
  const first = await startTask(url, V1, "first");
  await until(() => begun.length === 1);
  const second = await startTask(url, V1, "second");
  open("first");
  const third = await startTask(url, V1, "third");
  for (const text of ["second", "third"]) open(text);
  for (const { id } of [first, second, third]) await untilState(url, id, "completed");
  expect(begun).toEqual(["first 1", "second 1", "third 1"]);
});

it("it is not begun while the store cannot write, and the caller is told to try again", async () => {
  const { agent, begun, open } = gated();
  const url = await start([agent, echo]);
  await untilReady(url);
  const before = (await side.query("SELECT 1 FROM task")).rows.length;
  const lock = await TableLock.take(data, "task");
  const sent = rpc(url, "SendMessage", V1.sendParams("cut off"));
  await until(() => begun.length === 1);
  await lock.endWaiter();
  expect((await sent).status).toBe(503);
  await lock.end();
  open("again");
  const { body } = await rpc(url, "SendMessage", V1.sendParams("again"));
  expect(body.result.task.status.state).toBe("TASK_STATE_COMPLETED");
  expect((await side.query("SELECT 1 FROM task")).rows).toHaveLength(before + 1);
});

it("with many runs on one node, new tasks are shared with the other nodes", async () => {
  const ran = { a: 0, b: 0 };
  const gate = createGate();
  const count = (node: "a" | "b"): AgentDefinition => ({
    name: "counted",
    replies: "task",
    async run() {
      ran[node] += 1;
      await gate.opened;
      return "done";
    },
  });
  await start([count("b")]);
  // A node counts the others at its start.
  const a = await start([count("a")]);
  const tasks = await Promise.all(Array.from({ length: 150 }, () => startTask(a, V1, "go")));
  await until(() => ran.a + ran.b === 150);
  expect(ran.b).toBeGreaterThan(0);
  gate.open();
  for (const { id } of tasks) await untilState(a, id, "completed");
});

it("it is shown by the console of another node, although no reader can wait for it there", async () => {
  const a = await start([echo]);
  const b = await start([echo]);
  const abort = new AbortController();
  const shown: string[] = [];
  let sent: string | undefined;
  for await (const { event, data } of adminEvents(b, "/tasks/changes", abort.signal)) {
    if (event === "ready") {
      const { body } = await rpc(a, "SendMessage", V1.sendParams("quick"));
      sent = body.result.task.id as string;
    } else shown.push(String(data.id));
    if (sent !== undefined && shown.includes(sent)) break;
  }
  abort.abort();
  expect(shown).toContain(sent);
});
