import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Ctx } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { echo } from "../support/agents.ts";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, until } from "../support/client.ts";
import { aborted, createGate } from "../support/gate.ts";
import { getTask, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { openReceiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** Several nodes that share one Postgres: callers can use any of them. */

let postgres: TestPostgres;
let data: string;
let nodes: TestServer[] = [];
let folder: ReturnType<typeof tempFolder>;
beforeAll(async () => {
  postgres = await startPostgres(true);
  data = await postgres.createDatabase();
  folder = tempFolder();
});
afterEach(async () => {
  await Promise.all(nodes.map(node => node.stop()));
  nodes = [];
  await endChildren();
});
afterAll(async () => {
  await postgres.stop();
  folder.remove();
});

/**
 * Sends a number every few milliseconds until it is aborted, or has sent them all. `held`: waits there
 * half-way.
 */
const counter = (
  name: string,
  count: number,
  pauseMs: number,
  held = Promise.resolve(),
): AgentDefinition => ({
  name,
  async *run(_task, ctx: Ctx) {
    for (let i = 1; i <= count && !ctx.signal.aborted; i++) {
      yield ctx.text(`${i} `);
      await sleep(pauseMs, undefined, { signal: ctx.signal }).catch(() => {});
      if (i === Math.ceil(count / 2)) await Promise.race([held, aborted(ctx.signal)]);
    }
  },
});
const numbers = (count: number): string => Array.from({ length: count }, (_, i) => `${i + 1} `).join("");

async function start(agents: readonly AgentDefinition[], more: object = {}): Promise<TestServer> {
  const node = await serve(agents, { data, durability: "power", ...more });
  nodes.push(node);
  return node;
}

it("a task is created on one node, streamed from a second, resumed from a third and canceled from a fourth", async () => {
  const agents = [counter("counter", 100_000, 5)];
  const [a, b, c, d] = await Promise.all([1, 2, 3, 4].map(() => start(agents)));
  if (!a || !b || !c || !d) throw new Error("four nodes");
  const { id } = await startTask(a.url, V1, "go");
  const stream = await openStream(b.url, "SubscribeToTask", { id });
  const seen = [];
  for (let i = 0; i < 30; i++) seen.push(await stream.next());
  stream.close();
  const last = seen.at(-1)?.id as string;
  const resumed = await openStream(c.url, "SubscribeToTask", { id }, { "last-event-id": last });
  const first = await resumed.next();
  expect(Number(first?.id)).toBe(Number(last) + 1);
  await rpcResult(d.url, "CancelTask", { id });
  const rest = await resumed.all();
  expect(rest.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_CANCELED");
  const ended = await getTask(a.url, id);
  expect(ended.status.state).toBe("TASK_STATE_CANCELED");
  // The snapshot with which the second node began, and all chunks after it, are the text of the task.
  const [snapshot, ...before] = seen;
  const begun = snapshot?.data.result.task.artifacts?.[0].parts[0].text ?? "";
  const texts = [...before, first, ...rest].flatMap(
    event => event?.data.result.artifactUpdate?.artifact.parts ?? [],
  );
  expect(begun + texts.map(part => part.text).join("")).toBe(ended.artifacts[0].parts[0].text);
});

it("a node that stops hands its runs over at once, and a stream on another node continues without a gap", async () => {
  const gate = createGate();
  const agents = [counter("handed", 60, 20, gate.opened)];
  const a = await start(agents, { drainMs: 0, leaseMs: 60_000 });
  const { id } = await startTask(a.url, V1, "go");
  await untilState(a.url, id, "working");
  const b = await start(agents, { leaseMs: 60_000 });
  const stream = await openStream(b.url, "SubscribeToTask", { id });
  for (let i = 0; i < 5; i++) await stream.next();
  await a.stop();
  nodes = nodes.filter(node => node !== a);
  gate.open();
  const events = await stream.all();
  expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  expect((await getTask(b.url, id)).artifacts[0].parts[0].text).toBe(numbers(60));
});

it("the runs of a killed node are taken over by another one", async () => {
  // The first attempt never ends, and sends its process id.
  const body = `
    yield ctx.status(String(process.pid));
    for (let i = 1; i <= 40 || ctx.attempt === 1; i++) { yield ctx.text(i + " "); await sleep(5); }`;
  const agents = [writeAgent(folder.path, "taken", body)];
  const flags = ["--lease-ms", "1000", "--log-level", "error"];
  const both = (await Promise.all([1, 2].map(() => startChild({ agents, data, flags })))) as [Child, Child];
  const { id } = await startTask(both[0].url, V1, "go");
  let runs: Child | undefined;
  await until(async () => {
    const text = (await getTask(both[0].url, id)).status.message?.parts[0].text;
    return (runs = both.find(node => String(node.pid) === text)) !== undefined;
  });
  const other = both.find(node => node !== runs) as Child;
  const stream = await openStream(other.url, "SubscribeToTask", { id });
  for (let i = 0; i < 3; i++) await stream.next();
  await runs?.kill();
  const events = await stream.all();
  expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  expect((await getTask(other.url, id)).artifacts[0].parts[0].text).toBe(numbers(40));
});

it("a node runs only the agents that it serves", async () => {
  const a = await start([echo]);
  const b = await start([counter("elsewhere", 3, 1)]);
  expect((await rpc(a.url, "SendMessage", V1.sendParams("hi"))).body.result.task.status.state).toBe(
    "TASK_STATE_COMPLETED",
  );
  expect((await rpc(b.url, "SendMessage", V1.sendParams("hi"))).body.result.task.status.state).toBe(
    "TASK_STATE_COMPLETED",
  );
});

it("the runs of a caller are counted over all nodes", async () => {
  const gate = createGate();
  let active = 0;
  let most = 0;
  const bounded: AgentDefinition = {
    name: "bounded",
    async run() {
      most = Math.max(most, ++active);
      await gate.opened;
      active -= 1;
      return "done";
    },
  };
  const agents = [bounded];
  const quotas = { caller: { runs: 2 } };
  const [a, b] = await Promise.all([1, 2].map(() => start(agents, { quotas })));
  if (!a || !b) throw new Error("two nodes");
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push((await startTask((i % 2 ? a : b).url, V1, "go")).id);
  await until(() => active === 2);
  gate.open();
  for (const id of ids) await untilState(a.url, id, "completed");
  expect(most).toBe(2);
});

it("the same call on two nodes at once is one call", async () => {
  const [a, b] = await Promise.all([1, 2].map(() => start([echo])));
  if (!a || !b) throw new Error("two nodes");
  const call = (url: string) => rpc(url, "SendMessage", V1.sendParams("once"), { "idempotency-key": "k-1" });
  const params = V1.sendParams("once");
  const send = (url: string) => rpc(url, "SendMessage", params, { "idempotency-key": "k-2" });
  const replies = await Promise.all([a.url, b.url, a.url, b.url].map(send));
  expect(new Set(replies.map(reply => reply.body.result.task.id)).size).toBe(1);
  expect((await call(a.url)).status).toBe(200);
});

it("a crash and restart of Postgres costs time only: streams stay open, webhooks are called", async context => {
  if (!postgres.own) return context.skip("a Postgres that the tests did not start is not restarted");
  const gate = createGate();
  const agents = [counter("patient", 40, 5, gate.opened)];
  const hook = await openReceiver();
  const [a, b] = [await start(agents, { leaseMs: 1_000 }), await start(agents, { leaseMs: 1_000 })];
  const { id } = await startTask(a.url, V1, "go");
  await untilState(a.url, id, "working");
  const stream = await openStream(b.url, "SubscribeToTask", { id });
  await stream.next();
  await postgres.restart();
  gate.open();
  const events = await stream.all();
  expect(events.filter(event => event.data.error)).toEqual([]);
  expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  expect((await getTask(a.url, id)).artifacts[0].parts[0].text).toBe(numbers(40));
  // Workers that looked for deliveries meanwhile have not given up.
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  await rpcResult(b.url, "SendMessage", { ...V1.sendParams("again"), configuration });
  await hook.find(one => one.body.statusUpdate?.status.state === "TASK_STATE_COMPLETED");
  await hook.close();
});
