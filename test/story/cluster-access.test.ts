import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { runCli } from "../support/cli.ts";
import { openStream, rpc, until } from "../support/client.ts";
import { startTask, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Access and quotas of several nodes that share one Postgres. */

let postgres: TestPostgres;
let data: string;
let nodes: TestServer[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(nodes.map(node => node.stop()));
  nodes = [];
});
afterAll(() => postgres.stop());

async function start(settings: object): Promise<TestServer> {
  const node = await serve([echo, createScriptedAgent().definition], { data, ...settings });
  nodes.push(node);
  return node;
}

it("a token that is created on the command line is valid on every node, and on none after it is revoked: open streams end", async () => {
  data = await postgres.createDatabase();
  const made = await runCli("token", "create", "--principal", "alice", "--data", data, "--json");
  expect([made.code, made.err]).toEqual([0, ""]);
  const { token, id } = JSON.parse(made.out);
  const auth = { authorization: `Bearer ${token}` };
  const [a, b] = [await start({ auth: ["tokens"] }), await start({ auth: ["tokens"] })];
  for (const { url } of [a, b])
    expect((await rpc(url, "SendMessage", V1.sendParams("hi"), auth)).body.result.task.status.state).toBe(
      "TASK_STATE_COMPLETED",
    );
  const params = V1.sendParams("go", {}, { configuration: V1.nonBlocking });
  const running = V1.taskIn((await rpc(`${a.url}/agents/puppet`, "SendMessage", params, auth)).body.result);
  const streams = await Promise.all(
    [a, b].map(({ url }) => openStream(`${url}/agents/puppet`, "SubscribeToTask", { id: running.id }, auth)),
  );
  for (const stream of streams) await stream.next();

  const revoked = await runCli("token", "revoke", id, "--data", data);
  expect([revoked.code, revoked.err]).toEqual([0, ""]);
  for (const stream of streams) {
    const [end] = (await stream.all()).slice(-1);
    expect(end?.data.error.message).toContain("have expired or were revoked");
  }
  for (const { url } of [a, b])
    await until(async () => (await rpc(url, "SendMessage", V1.sendParams("hi"), auth)).status === 401);
  const listed = await runCli("token", "list", "--all", "--data", data);
  expect(listed.out).toMatch(/revoked/);
});

it("the quotas of calls and streams of a caller are divided among the nodes", async () => {
  data = await postgres.createDatabase();
  // So slow that no call is refilled meanwhile.
  const quotas = { caller: { callsPerSecond: 0.001, callsBurst: 8 } };
  await start({ quotas });
  const second = await start({ quotas });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await rpc(second.url, "ListTasks", {})).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
});

it("streams likewise: the half of three is two", async () => {
  data = await postgres.createDatabase();
  const quotas = { caller: { streams: 3 } };
  const first = await start({});
  const { id } = await startTask(`${first.url}/agents/puppet`, V1, "go");
  const second = await start({ quotas });
  const open = () => openStream(`${second.url}/agents/puppet`, "SubscribeToTask", { id });
  const streams = [await open(), await open()];
  for (const stream of streams) await stream.next();
  expect((await open()).status).toBe(429);
  for (const stream of streams) stream.close();
});
