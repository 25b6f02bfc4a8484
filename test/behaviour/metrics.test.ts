import { afterEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { toHash } from "../../src/auth/token.ts";
import type { ApiKey, Permission } from "../../src/model/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { createGate } from "../support/gate.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { startPostgres } from "../support/postgres.ts";
import { openReceiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

let server: TestServer;
const folders: ReturnType<typeof tempFolder>[] = [];
afterEach(async () => {
  await server?.stop();
  for (const folder of folders.splice(0)) folder.remove();
});

const gate = createGate();
const AGENTS: readonly AgentDefinition[] = [
  {
    name: "echo",
    async *run(task, ctx) {
      ctx.usage({ inputTokens: 5, outputTokens: 2 });
      yield task.text;
    },
  },
  { name: "breaker", run: () => Promise.reject(new Error("no")) },
  {
    name: "waiter",
    async *run() {
      yield "one ";
      await gate.opened;
      yield "two";
    },
  },
];

const start = async (settings: Partial<ServerSettings> = {}): Promise<void> => {
  server = await serve(AGENTS, settings);
};

/** By the name of a series with its labels, as Prometheus parses it. */
async function scrape(url = server.url): Promise<Readonly<Record<string, number>>> {
  const reply = await fetch(`${url}/metrics`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await reply.text()).split("\n").filter(line => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map(line => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

it("/metrics counts calls by dialect, binding, operation and outcome", async () => {
  await start();
  await rpc(server.url, "SendMessage", sendParams("a"));
  await rpc(server.url, "SendMessage", sendParams("b"));
  await rpc(server.url, "GetTask", { id: "nowhere" });
  await rpc(server.url, "Nonsense", {});
  await fetch(`${server.url}/agents/echo/tasks`, { headers: { "A2A-Version": "1.0" } });
  await fetch(server.url, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{" });
  const client = createGrpcClient(new URL(server.url).host);
  await client.ask("SendMessage", sendParams("c"));
  client.close();
  const seen = await scrape();
  const calls = (labels: string): number | undefined => seen[`dragoman_calls_total{${labels}}`];
  expect(calls('dialect="v1",binding="jsonrpc",operation="send",outcome="ok"')).toBe(2);
  expect(calls('dialect="v1",binding="jsonrpc",operation="get",outcome="task-not-found"')).toBe(1);
  expect(calls('dialect="v1",binding="jsonrpc",operation="none",outcome="method-not-found"')).toBe(1);
  expect(calls('dialect="v1",binding="rest",operation="list",outcome="ok"')).toBe(1);
  expect(calls('dialect="v1",binding="grpc",operation="send",outcome="ok"')).toBe(1);
  expect(Object.keys(seen).filter(name => /calls_total.*outcome="parse"/.test(name))).toHaveLength(1);
  expect(seen['dragoman_call_seconds_count{binding="jsonrpc",operation="send"}']).toBe(2);
  expect(seen['dragoman_call_seconds_bucket{le="+Inf",binding="jsonrpc",operation="send"}']).toBeUndefined();
  expect(seen['dragoman_call_seconds_bucket{binding="jsonrpc",operation="send",le="+Inf"}']).toBe(2);
});

it.each(["memory", "Postgres"])("/metrics counts runs, their usage, and commits, in %s", async where => {
  await start({ data: where === "memory" ? ":memory:" : await (await startPostgres()).createDatabase() });
  await rpc(`${server.url}/agents/echo`, "SendMessage", sendParams("a"));
  await rpc(`${server.url}/agents/breaker`, "SendMessage", sendParams("a"));
  const seen = await scrape();
  expect(seen['dragoman_runs_total{agent="echo",outcome="completed"}']).toBe(1);
  expect(seen['dragoman_runs_total{agent="breaker",outcome="broken"}']).toBe(1);
  expect(seen['dragoman_run_seconds_count{agent="echo"}']).toBe(1);
  expect(seen['dragoman_queue_seconds_count{agent="echo"}']).toBe(1);
  expect(seen['dragoman_attempts_total{agent="echo"}']).toBe(1);
  expect(seen['dragoman_usage_total{agent="echo",counter="inputTokens"}']).toBe(5);
  expect(seen.dragoman_events_total).toBeGreaterThanOrEqual(8);
  expect(seen.dragoman_commit_tasks_count).toBe(seen.dragoman_commit_seconds_count);
  expect(seen.dragoman_commit_failures_total).toBe(0);
  expect(seen.dragoman_store_bytes === 0).toBe(where === "memory");
  expect(seen.process_cpu_seconds_total).toBeGreaterThan(0);
});

it("/metrics has gauges of open streams, runs and waiting tasks", async () => {
  const folder = tempFolder();
  folders.push(folder);
  await start({ data: folder.path, runsMax: 1 });
  const stream = await openStream(`${server.url}/agents/waiter`, "SendStreamingMessage", sendParams("a"));
  await stream.next();
  const later = { ...sendParams("b"), configuration: { returnImmediately: true } };
  await rpc(`${server.url}/agents/echo`, "SendMessage", later);
  const seen = await scrape();
  expect(seen.dragoman_streams_open).toBe(1);
  expect(seen.dragoman_runs_running).toBe(1);
  expect(seen.dragoman_tasks_waiting).toBe(1);
  expect(seen['dragoman_tasks_unfinished{agent="waiter"}']).toBe(1);
  expect(seen['dragoman_tasks_unfinished{agent="echo"}']).toBe(1);
  expect(seen.dragoman_store_bytes).toBeGreaterThan(10_000);
  expect(seen['dragoman_first_event_seconds_count{operation="stream"}']).toBe(1);
  gate.open();
  await stream.all();
  await until(async () => (await scrape()).dragoman_streams_open === 0);
  const after = await scrape();
  expect(after['dragoman_tasks_unfinished{agent="waiter"}']).toBeUndefined();
  expect(after.dragoman_log_lag_seconds_count).toBeGreaterThan(0);
});

it("/metrics counts webhook attempts, and measures since when a webhook has been failing", async () => {
  await start({ pushRetryMs: 20 });
  const hook = await openReceiver((_, nth) => ({ status: nth === 1 ? 500 : 204 }));
  const params = { ...sendParams("a"), configuration: { taskPushNotificationConfig: { url: hook.url } } };
  await rpc(server.url, "SendMessage", params);
  await until(async () => (await scrape())['dragoman_push_attempts_total{outcome="failed"}'] === 1);
  await until(async () => ((await scrape())['dragoman_push_attempts_total{outcome="taken"}'] ?? 0) > 0);
  const seen = await scrape();
  expect(seen.dragoman_push_oldest_seconds).toBe(0);
  expect(seen.dragoman_push_given_up_total).toBe(0);
  expect(seen['dragoman_outbound_calls_total{target="webhook",outcome="5xx"}']).toBe(1);
  await hook.close();
});

it("with authentication, /metrics is for administrators; at the admin port it is open", async () => {
  const keyOf = (key: string, grants: readonly Permission[]): ApiKey => ({
    hash: toHash(key),
    principal: key,
    tenants: ["default"],
    grants,
    agents: undefined,
  });
  const apiKeys = [keyOf("key of a reader", ["read"]), keyOf("key of an admin", ["admin"])];
  const statusOf = async (url: string, key?: string): Promise<number> =>
    (await fetch(`${url}/metrics`, { headers: key === undefined ? {} : { "X-API-Key": key } })).status;
  await start({ auth: ["api-key"], apiKeys });
  expect(await statusOf(server.url)).toBe(401);
  expect(await statusOf(server.url, "key of a reader")).toBe(403);
  expect(await statusOf(server.url, "key of an admin")).toBe(200);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  await server.stop();
  await start({ auth: ["api-key"], apiKeys, adminPort: 0 });
  expect(await statusOf(server.admin as string)).toBe(200);
});

it("with an admin port /metrics is served there only", async () => {
  // The console on the admin port calls agents there.
  await start({ adminPort: 0, console: "off" });
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${server.url}/admin/log-level`)).status).toBe(404);
  expect((await scrape(server.admin)).dragoman_tasks_waiting).toBe(0);
  expect((await fetch(`${server.admin}/readyz`)).status).toBe(200);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect((await fetch(`${server.admin}/.well-known/agent-card.json`)).status).toBe(404);
});

it("when switched off, nothing is counted, and the path is 404", async () => {
  await start({ metrics: false });
  await rpc(server.url, "SendMessage", sendParams("a"));
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
});
