import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { asker, createScriptedAgent, echo, replier } from "../support/agents.ts";
import { runCli } from "../support/cli.ts";
import { rpc } from "../support/client.ts";
import { getTask, type Loose, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

let postgres: TestPostgres;
let folder: ReturnType<typeof tempFolder>;
let server: TestServer;
beforeAll(async () => {
  postgres = await startPostgres();
  folder = tempFolder();
});
afterEach(() => server.stop());
afterAll(async () => {
  await postgres.stop();
  folder.remove();
});

it("a store is moved from its folder into Postgres with all its data, and its tasks continue there", async () => {
  const puppet = createScriptedAgent();
  const spender: AgentDefinition = {
    name: "spender",
    async *run(_task, ctx) {
      yield ctx.usage({ inputTokens: 12 });
      const kept = await ctx.items.get(["notes"], "first");
      await ctx.items.put(["notes"], "first", { text: "kept" }, { ttlMs: 1_000_000 });
      yield ctx.data({ kept: kept?.value ?? null });
    },
  };
  const agents = [echo, asker, replier, spender, puppet.definition];
  server = await serve(agents, { data: folder.path, drainMs: 0 });
  const params = V1.sendParams("keyed");
  const keyed = { "idempotency-key": "k" };
  const done = V1.taskIn(await rpcResult(server.url, "SendMessage", params, keyed));
  const asked = V1.taskIn(
    await rpcResult(`${server.url}/agents/asker`, "SendMessage", V1.sendParams("book")),
  );
  const running = await startTask(`${server.url}/agents/puppet`, V1, "go");
  puppet.send(running.id, ctx => ctx.text("so far"));
  await untilState(`${server.url}/agents/puppet`, running.id, "working");
  await rpc(`${server.url}/agents/replier`, "SendMessage", V1.sendParams("hello"));
  await rpc(`${server.url}/agents/spender`, "SendMessage", V1.sendParams("hello"));
  const before: Loose = await rpcResult(server.url, "ListTasks", { pageSize: 100, includeArtifacts: true });
  const locked = await runCli("migrate", folder.path, await postgres.createDatabase());
  expect([locked.code, locked.err]).toEqual([
    1,
    expect.stringContaining("in use by another Dragoman server"),
  ]);
  await server.stop();

  const url = await postgres.createDatabase();
  const moved = await runCli("migrate", folder.path, url, "--json");
  expect([moved.code, moved.err]).toEqual([0, ""]);
  expect(JSON.parse(moved.out)).toMatchObject({ known: 0, findingsCount: 0 });
  const again = await runCli("migrate", folder.path, url);
  expect([again.code, again.out]).toEqual([
    0,
    expect.stringMatching(/5 tasks copied, 5 of them existed already\nno problems found/),
  ]);
  const doctor = await runCli("doctor", "--data", url);
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringContaining("no problems found")]);

  server = await serve(agents, { data: url });
  expect(await rpcResult(server.url, "ListTasks", { pageSize: 100, includeArtifacts: true })).toEqual(before);
  const repeated = V1.taskIn(await rpcResult(server.url, "SendMessage", params, keyed));
  expect(repeated.id).toBe(done.id);
  const answer = V1.sendParams("red", { taskId: asked.id });
  const answered = V1.taskIn(await rpcResult(`${server.url}/agents/asker`, "SendMessage", answer));
  expect(answered.status.state).toBe("TASK_STATE_COMPLETED");
  puppet.send(running.id, ctx => ctx.text("so far"));
  puppet.end(running.id);
  const ended = await untilState(`${server.url}/agents/puppet`, running.id, "completed");
  expect(ended.artifacts[0].parts[0].text).toContain("so far");
  expect((await getTask(server.url, done.id)).history).toEqual(done.history);

  const reminded = V1.taskIn(
    await rpcResult(`${server.url}/agents/spender`, "SendMessage", V1.sendParams("hello")),
  );
  expect(reminded.artifacts[0].parts[0].data).toEqual({ kept: { text: "kept" } });

  const why = await runCli("why", done.id, "--data", url);
  expect([why.code, why.out]).toEqual([0, expect.stringContaining("Completed.")]);
  const unknown = await runCli("why", "nobody-knows-this", "--data", url);
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("not found in postgres")]);
  const spent = await runCli("usage", "--by", "agent", "--data", url);
  expect([spent.code, spent.out]).toEqual([0, expect.stringMatching(/spender +24/)]);
});
