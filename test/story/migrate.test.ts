import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { runCli } from "../support/cli.ts";
import { rpc } from "../support/client.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { asker, createPuppet, echo, replier } from "../support/puppet.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { ask, begin, getTask, type Loose, untilState, V1 } from "../support/tongue.ts";

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

it("a store moves from its folder into Postgres with all that it has, and work goes on there", async () => {
  const puppet = createPuppet();
  const spender: AgentDefinition = {
    name: "spender",
    async *run(_task, ctx) {
      yield ctx.usage({ inputTokens: 12 });
    },
  };
  const agents = [echo, asker, replier, spender, puppet.definition];
  server = await serve(agents, { data: folder.path, drainMs: 0 });
  const said = V1.said("keyed");
  const keyed = { "idempotency-key": "k" };
  const done = V1.taskIn(await ask(server.url, "SendMessage", said, keyed));
  const asked = V1.taskIn(await ask(`${server.url}/agents/asker`, "SendMessage", V1.said("book")));
  const running = await begin(`${server.url}/agents/puppet`, V1, "go");
  puppet.say(running.id, ctx => ctx.text("so far"));
  await untilState(`${server.url}/agents/puppet`, running.id, "working");
  await rpc(`${server.url}/agents/replier`, "SendMessage", V1.said("hello"));
  await rpc(`${server.url}/agents/spender`, "SendMessage", V1.said("hello"));
  const before: Loose = await ask(server.url, "ListTasks", { pageSize: 100, includeArtifacts: true });
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
    expect.stringMatching(/5 tasks moved, 5 of them were there already\nnothing is wrong/),
  ]);
  const doctor = await runCli("doctor", "--data", url);
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringContaining("nothing is wrong")]);

  server = await serve(agents, { data: url });
  expect(await ask(server.url, "ListTasks", { pageSize: 100, includeArtifacts: true })).toEqual(before);
  const repeated = V1.taskIn(await ask(server.url, "SendMessage", said, keyed));
  expect(repeated.id).toBe(done.id);
  const answer = V1.said("red", { taskId: asked.id });
  const answered = V1.taskIn(await ask(`${server.url}/agents/asker`, "SendMessage", answer));
  expect(answered.status.state).toBe("TASK_STATE_COMPLETED");
  puppet.say(running.id, ctx => ctx.text("so far"));
  puppet.end(running.id);
  const ended = await untilState(`${server.url}/agents/puppet`, running.id, "completed");
  expect(ended.artifacts[0].parts[0].text).toContain("so far");
  expect((await getTask(server.url, done.id)).history).toEqual(done.history);

  const why = await runCli("why", done.id, "--data", url);
  expect([why.code, why.out]).toEqual([0, expect.stringContaining("It went well")]);
  const unknown = await runCli("why", "nobody-knows-this", "--data", url);
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("in the database")]);
  const spent = await runCli("usage", "--by", "agent", "--data", url);
  expect([spent.code, spent.out]).toEqual([0, expect.stringMatching(/spender +12/)]);
});
