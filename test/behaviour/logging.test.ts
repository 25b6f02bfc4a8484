import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { endChildren, startChild, writeAgent } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { taskOf } from "../support/wire.ts";

let server: TestServer | undefined;
const folder = tempFolder();
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await endChildren();
});

const TALKER: AgentDefinition = {
  name: "talker",
  run(task, ctx) {
    ctx.log.info({ mood: "good" }, "at work");
    return task.text;
  },
};
const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("the log", () => {
  it("a request has the id that its caller sent, and the response returns it; an invalid id is ignored", async () => {
    server = await serve([TALKER]);
    const named = await rpc(server.url, "SendMessage", sendParams("a"), { "X-Request-Id": "req-1" });
    expect(named.headers.get("x-request-id")).toBe("req-1");
    expect((await rpc(server.url, "SendMessage", sendParams("a"))).headers.has("x-request-id")).toBe(false);
    const wrong = await rpc(server.url, "SendMessage", sendParams("a"), { "X-Request-Id": "a b\tc" });
    expect(wrong.headers.has("x-request-id")).toBe(false);
    const client = createGrpcClient(new URL(server.url).host);
    const { headers } = await client.ask("SendMessage", sendParams("a"), { "x-request-id": "req-2" });
    client.close();
    expect(headers.get("x-request-id")).toEqual(["req-2"]);
  });

  it("lines of a run have the task, the attempt and the trace", async () => {
    server = await serve([TALKER]);
    const { body } = await rpc(server.url, "SendMessage", sendParams("a"), { traceparent: TRACEPARENT });
    expect(server.log.lines).toEqual([
      {
        level: "info",
        text: "at work",
        facts: {
          taskId: taskOf(body).id,
          agent: "talker",
          attempt: 1,
          traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
          mood: "good",
        },
      },
    ]);
  });

  it("each call has a line at the level debug, which can be changed while the server runs", async () => {
    const agent = writeAgent(folder.path, "talker", "yield task.text;");
    const child = await startChild({ agents: [agent], data: ":memory:", flags: ["--log-bodies"] });
    const lines = (): Record<string, unknown>[] =>
      child
        .stderr()
        .split("\n")
        .filter(line => line.startsWith("{"))
        .map(line => JSON.parse(line));
    const callLines = () => lines().filter(line => line.msg === "a call");
    const level = (method: string, body?: string, type = "application/json") =>
      fetch(`${child.url}/admin/log-level`, {
        method,
        headers: { "Content-Type": type },
        ...(body && { body }),
      });

    await rpc(child.url, "SendMessage", sendParams("quiet"));
    expect(await (await level("GET")).json()).toEqual({ level: "info" });
    expect(await (await level("POST", '{"level":"debug"}')).json()).toEqual({ level: "debug" });
    const said1 = sendParams("my password=hunter2x is known");
    const { headers } = await rpc(child.url, "SendMessage", said1, { Authorization: "Bearer abcdefghijk" });
    await until(() => callLines().some(line => line.operation === "send"));
    const line = callLines().find(one => one.operation === "send");
    expect(line).toMatchObject({
      level: "debug",
      requestId: headers.get("x-request-id"),
      dialect: "v1",
      binding: "jsonrpc",
      tenant: "default",
      outcome: "completed",
      taskId: expect.any(String),
      ms: expect.any(Number),
      body: expect.stringContaining("my password=[redacted]"),
    });
    expect(child.stderr()).not.toMatch(/hunter2x|abcdefghijk|quiet/);

    expect((await level("POST", '{"level":"loud"}')).status).toBe(400);
    expect((await level("POST", "level=debug")).status).toBe(400);
    expect((await level("POST", '{"level":"info"}', "text/plain")).status).toBe(400);
    await level("POST", '{"level":"warn"}');
    child.signal("SIGUSR2");
    await until(() => lines().some(one => one.msg === "the log level was changed" && one.level === "warn"));
    expect(await (await level("GET")).json()).toEqual({ level: "debug" });
    await child.stop();
  });
});
