import { afterEach, describe, expect, it } from "vitest";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { runCli } from "../support/cli.ts";
import { openStream, rpc, until } from "../support/client.ts";
import { getTask, rpcResult, startTask, untilState, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** docs/dialects/README.md B-V9: responses to callers that exceed their quota. */

let server: TestServer;
afterEach(() => server.stop());

const spender = {
  name: "spender",
  run: (task: { text: string }, ctx: { usage(counters: object): unknown }) => {
    ctx.usage({ inputTokens: Number(task.text), outputTokens: 1 });
    return "spent";
  },
} as never;

const withQuota = (quotas: ServerSettings["quotas"], more: Partial<ServerSettings> = {}) => ({
  quotas,
  ...more,
});

describe("calls per second", () => {
  it("are refused with 429, Retry-After and the error code of the dialect, in every dialect", async () => {
    server = await serve([echo], withQuota({ caller: { callsPerSecond: 0.001, callsBurst: 1 } }));
    await rpcResult(server.url, "SendMessage", V1.sendParams("hi"));
    const refused = await rpc(server.url, "SendMessage", V1.sendParams("hi"));
    expect([refused.status, refused.body.error.code]).toEqual([429, -32056]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(900);
    expect(refused.body.error.message).toContain("0.001 calls per second");
    const old = await rpc(server.url, "message/send", V03.sendParams("hi"));
    expect([old.status, old.body.error.code]).toEqual([429, -32056]);
    const rest = await fetch(`${server.url}/agents/echo/tasks`, { headers: { "a2a-version": "1.0" } });
    const body = (await rest.json()) as { error: { status: string } };
    expect([rest.status, body.error.status]).toEqual([429, "RESOURCE_EXHAUSTED"]);
    const orloj = await rpc(`${server.url}/v1/agent-systems/echo/a2a`, "tasks/get", { id: "x" });
    expect(orloj.body.error.code).toBe(-32603);
  });

  it("do not include cards and lists of agents", async () => {
    server = await serve([echo], withQuota({ tenant: { callsPerSecond: 0.001, callsBurst: 1 } }));
    await rpcResult(server.url, "SendMessage", V1.sendParams("hi"));
    for (const path of ["/agents", "/.well-known/agent-card.json"])
      expect((await fetch(server.url + path)).status).toBe(200);
  });
});

it("open streams are counted, and a closed stream frees its slot", async () => {
  const puppet = createScriptedAgent();
  server = await serve([puppet.definition], withQuota({ caller: { streams: 1 } }));
  const first = await openStream(server.url, "SendStreamingMessage", V1.sendParams("one"));
  await first.next();
  const refused = await rpc(server.url, "SendStreamingMessage", V1.sendParams("two"));
  expect(refused.status).toBe(429);
  first.close();
  await until(async () => {
    const stream = await openStream(server.url, "SendStreamingMessage", V1.sendParams("three"));
    const isOpen = stream.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (isOpen) await stream.next();
    stream.close();
    return isOpen;
  });
});

it("runs beyond the quota wait, and nothing is refused", async () => {
  const puppet = createScriptedAgent();
  server = await serve([puppet.definition], withQuota({ caller: { runs: 1 } }));
  const first = await startTask(server.url, V1, "one");
  const second = await startTask(server.url, V1, "two");
  await untilState(server.url, first.id, "working");
  expect((await getTask(server.url, second.id)).status.state).toBe("TASK_STATE_SUBMITTED");
  puppet.end(first.id);
  await untilState(server.url, second.id, "working");
  puppet.end(second.id);
});

it("stored tasks are limited", async () => {
  server = await serve([echo], withQuota({ caller: { tasks: 2 } }));
  for (const text of ["one", "two"]) await rpcResult(server.url, "SendMessage", V1.sendParams(text));
  const refused = await rpc(server.url, "SendMessage", V1.sendParams("three"));
  expect([refused.status, refused.body.error.message]).toEqual([
    429,
    expect.stringContaining("may have 2 tasks"),
  ]);
});

it("bytes of one call are limited", async () => {
  server = await serve([echo], withQuota({ tenants: { default: { caller: { bodyBytes: 500 } } } }));
  await rpcResult(server.url, "SendMessage", V1.sendParams("short"));
  const refused = await rpc(server.url, "SendMessage", V1.sendParams("x".repeat(600)));
  expect(refused.status).toBe(413);
  expect(refused.body.error.message).toContain("500 bytes");
});

it("tokens of a day are limited, as agents report them; the task and the command show the usage", async () => {
  const folder = tempFolder();
  server = await serve([spender], withQuota({ tenant: { tokensPerDay: 10 } }, { data: folder.path }));
  const task = V1.taskIn(await rpcResult(server.url, "SendMessage", V1.sendParams("8")));
  expect(task.metadata).toEqual({ "dragoman.usage": { inputTokens: 8, outputTokens: 1 } });
  await rpcResult(server.url, "SendMessage", V1.sendParams("5"));
  const refused = await rpc(server.url, "SendMessage", V1.sendParams("1"));
  expect([refused.status, refused.body.error.message]).toEqual([429, expect.stringContaining("10 tokens")]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const shown = await runCli("usage", "--data", folder.path, "--by", "agent", "--json");
  expect(shown.err).toBe("");
  expect(JSON.parse(shown.out)).toEqual({ agent: "spender", usage: { inputTokens: 13, outputTokens: 2 } });
  const table = await runCli("usage", "--data", folder.path);
  expect(table.out).toMatch(/day\s+tenant\s+inputTokens\s+outputTokens\n\d{4}-\d\d-\d\d\s+default\s+13\s+2/);
  folder.remove();
});

it("a full queue is refused with 503 and Retry-After", async () => {
  const puppet = createScriptedAgent();
  server = await serve([puppet.definition], { queueMax: 1, runsMax: 1 });
  const first = await startTask(server.url, V1, "one");
  await untilState(server.url, first.id, "working");
  const second = await startTask(server.url, V1, "two");
  const refused = await rpc(server.url, "SendMessage", V1.sendParams("three"));
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  puppet.end(first.id);
  puppet.end(second.id);
});
