import { existsSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { taskOf } from "../support/wire.ts";

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const serve = (name: string, body: string): Promise<Child> =>
  startChild({ agents: [writeAgent(folder.path, name, body)], data: `${folder.path}/data` });
const why = (id: string, ...flags: readonly string[]) =>
  runCli("why", id, "--data", `${folder.path}/data`, ...flags);

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("why reports, while the server runs and afterwards, the caller, the waits, the interrupted runs, and the cost", async () => {
  const body = `
    const { existsSync, writeFileSync } = await import("node:fs");
    if (task.turn === 1) return yield ctx.ask("For how many?");
    await ctx.step("look up", () => 42);
    writeFileSync("${folder.path}/here", "");
    while (!existsSync("${folder.path}/open")) await sleep(10, undefined, { signal: ctx.signal });
    ctx.usage({ inputTokens: 1200, cost: 0.25 });
    for (const word of ["a ", "table ", "for ", task.text]) yield word;`;
  const first = await serve("waiter", body);
  const asked = await fetch(`${first.url}/agents/waiter/message:send`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "A2A-Version": "1.0", traceparent: TRACEPARENT },
    body: JSON.stringify(sendParams("a table, please")),
  });
  const { task } = (await asked.json()) as { task: { id: string } };
  const { id } = task;
  expect((await why(id)).out).toContain("Waiting for the caller's answer since");
  const answer = { ...sendParams("two", { taskId: id }), configuration: { returnImmediately: true } };
  await rpc(first.url, "SendMessage", answer);
  await until(() => existsSync(`${folder.path}/here`));
  expect((await why(id)).out).toMatch(/why +Running since .* \(run 2\)/);
  await first.kill();
  writeFileSync(`${folder.path}/open`, "");
  const second = await serve("waiter", body);
  await until(async () => {
    const { body: got } = await rpc(second.url, "GetTask", { id });
    return taskOf(got).status.state === "TASK_STATE_COMPLETED";
  });
  const { code, out } = await why(id);
  const remote = await runCli("why", second.url, id);
  expect([remote.code, remote.err]).toEqual([0, ""]);
  expect(remote.out).toBe(out);
  const unknown = await runCli("why", second.url, "0199a2b4-6c1d-7000-8f3e-2a90d1c4b7e6");
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("Task not found")]);
  await second.stop();
  expect(code).toBe(0);
  expect(out.split("\n").length).toBeLessThan(40);
  expect(out).toMatch(/agent +waiter: completed in /);
  expect(out).toMatch(/why +Completed after 1 interrupted run\./);
  expect(out).toMatch(/caller +anonymous of default, in v1 over HTTP\+JSON and JSON-RPC/);
  expect(out).toMatch(/trace +4bf92f3577b34da6a3ce929d0e0e4736/);
  expect(out).toMatch(/time +queued .*, running .*, waiting for the caller .*, interrupted /);
  expect(out).toMatch(/turns +2, 3 runs, 1 step/);
  expect(out).toMatch(/usage +inputTokens 1,200, cost 0\.25/);
  expect(out).toMatch(/run 2 +turn 2 .* interrupted after /);
  expect(out).toMatch(/step +look up/);
  expect(out).toMatch(/artifact +response-2: 4 chunks/);
});

it("why prints all of it as JSON", async () => {
  const server = await serve("breaker", `throw new Error("it broke");`);
  const { body } = await rpc(server.url, "SendMessage", sendParams("go"));
  await server.stop();
  const { id } = taskOf(body);
  const { code, out } = await why(id, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    task: { id, agent: "breaker", state: "failed" },
    caller: { tenant: "default", principal: "anonymous", dialect: "v1" },
    verdict: expect.stringMatching(/^Failed: The agent failed\. .* under /),
    turns: [{ turn: 1, text: "go", via: "jsonrpc" }],
    attempts: [{ attempt: 1, turn: 1, outcome: "broken", error: { name: "Error", message: "it broke" } }],
    pushes: [],
    phase: "ended",
  });
  expect(JSON.stringify(body)).not.toContain("it broke");
});

it("why reports where it looked if there is no such task", async () => {
  const server = await serve("echo", "yield task.text;");
  const { code, err } = await why("nobody-knows");
  await server.stop();
  expect(code).toBe(1);
  expect(err).toContain(`Task nobody-knows not found in ${folder.path}/data`);
});
