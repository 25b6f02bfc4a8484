import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import {
  apply,
  type RecordedEvent,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
} from "../../src/model/index.ts";
import type { Operation } from "../../src/ports/index.ts";
import { createDialects } from "../../src/protocol/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { openai } from "../../src/runtime/openai/index.ts";
import { program } from "../../src/runtime/process/index.ts";
import { remote } from "../../src/runtime/remote/index.ts";
import { runCli } from "../support/cli.ts";
import { openStream, rpc, until } from "../support/client.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { SETTINGS, serve, type TestServer, tempFolder } from "../support/server.ts";
import { taskOf } from "../support/wire.ts";

/** An error that an agent throws is stored with its task: operators can read it, and callers never. */

const OUTER = "the-outer-reason";
const INNER = "the-inner-reason";
const TOKEN = "abcdefghijklmnop";
const fail = (): never => {
  throw new RangeError(`${OUTER}, with Bearer ${TOKEN}`, { cause: new TypeError(INNER) });
};
const breaker: AgentDefinition = {
  name: "breaker",
  async run(task, ctx) {
    if (task.text !== "tell") return fail();
    return JSON.stringify([task, await ctx.history]);
  },
};
/** Sends text first, and throws during a stream. */
const stumbler: AgentDefinition = {
  name: "stumbler",
  async *run() {
    yield "so far ";
    fail();
  },
};

let postgres: TestPostgres;
let hook: Receiver;
let server: TestServer | undefined;
const folder = tempFolder();
beforeAll(async () => {
  postgres = await startPostgres();
  hook = await openReceiver();
}, 60_000);
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(async () => {
  await hook.close();
  await postgres.stop();
  folder.remove();
});

const isTold = (text: string): boolean =>
  [OUTER, INNER, TOKEN, "RangeError", "thrown.test"].some(one => text.includes(one));
const why = async (data: string, id: string): Promise<{ readonly text: string; readonly json: Loose }> => ({
  text: (await runCli("why", id, "--data", data)).out,
  json: JSON.parse((await runCli("why", id, "--data", data, "--json")).out),
});

/** Every response that a caller can get about a task. */
async function readResponses(url: string, id: string, contextId: string): Promise<string[]> {
  const get = async (path: string, version: string): Promise<string> =>
    (await fetch(`${url}${path}`, { headers: { "a2a-version": version } })).text();
  const responses = [
    await rpc(url, "GetTask", { id, historyLength: 100 }),
    await rpc(url, "ListTasks", { includeArtifacts: true, pageSize: 100 }),
    await rpc(url, "CancelTask", { id }),
    await rpc(url, "tasks/get", { id, historyLength: 100 }),
    await rpc(url, "tasks/cancel", { id }),
    await rpc(url, "SendMessage", V1.sendParams("tell", { contextId })),
    await get(`/tasks/${id}`, "1.0"),
    await get("/tasks?includeArtifacts=true", "1.0"),
    await get(`/v1/tasks/${id}`, "0.3"),
  ].map(one => (typeof one === "string" ? one : JSON.stringify(one.body)));
  for (const method of ["SubscribeToTask", "tasks/resubscribe"]) {
    const stream = await openStream(url, method, { id }, { "last-event-id": "0" });
    responses.push(JSON.stringify(await stream.all()));
  }
  const live = await openStream(url, "SendStreamingMessage", V1.sendParams("go"));
  responses.push(JSON.stringify(await live.all()));
  return responses;
}

async function breakOne(data: string): Promise<string> {
  server = await serve([breaker, stumbler], { data });
  const taskPushNotificationConfig = { id: "c", url: `${hook.url}/${breaker.name}` };
  const params = V1.sendParams("go", {}, { configuration: { taskPushNotificationConfig } });
  const { id, contextId, status } = taskOf((await rpc(server.url, "SendMessage", params)).body);
  expect(status.state).toBe("TASK_STATE_FAILED");
  await until(() => hook.all.some(({ text }) => text.includes(id) && text.includes("FAILED")));
  const responses = [
    ...(await readResponses(server.url, id, contextId)),
    ...(await readResponses(`${server.url}/agents/stumbler`, id, contextId)),
    ...hook.all.map(({ text }) => text),
  ];
  expect(responses.filter(text => text.includes("in the log under")).length).toBeGreaterThan(5);
  for (const text of responses) expect(isTold(text) ? text : "").toBe("");
  return id;
}

function expectKept({ text, json }: { readonly text: string; readonly json: Loose }): void {
  expect(text).toMatch(new RegExp(`why +Failed: The agent failed\\..* \\(thrown: RangeError: ${OUTER}`));
  expect(text).toMatch(/error of run 1\n +RangeError: .*\n +at fail .*thrown\.test\.ts/);
  expect(text).toContain(`TypeError: ${INNER}`);
  expect(text).toContain("[redacted]");
  expect(text + JSON.stringify(json)).not.toContain(TOKEN);
  expect(json.attempts[0].error).toMatchObject({
    name: "RangeError",
    message: expect.stringContaining(OUTER),
    stack: expect.stringContaining("thrown.test.ts"),
    causes: [{ name: "TypeError", message: INNER }],
  });
}

describe("an error that an agent throws is shown to operators and to no caller", () => {
  it("with a folder, and after a migration to Postgres", async () => {
    const data = join(folder.path, "data");
    const id = await breakOne(data);
    expectKept(await why(data, id));
    await server?.stop();
    server = undefined;
    expectKept(await why(data, id));
    const url = await postgres.createDatabase();
    expect((await runCli("migrate", data, url)).code).toBe(0);
    expectKept(await why(url, id));
    server = await serve([breaker, stumbler], { data: url });
    const found = await rpcResult(server.url, "GetTask", { id });
    expect(isTold(JSON.stringify(found))).toBe(false);
  });

  it("with Postgres", async () => {
    const url = await postgres.createDatabase();
    expectKept(await why(url, await breakOne(url)));
  });
});

it("an error for which a runtime has its own message is stored as well", async () => {
  const data = join(folder.path, "runtimes");
  const gone = "http://127.0.0.1:1";
  server = await serve(
    [
      remote({ name: "far", endpoint: gone, dialect: "v1", timeoutMs: 1_000 }),
      openai({ name: "model", baseUrl: `${gone}/v1`, model: "m", key: "planted-key-0123456789" }),
      program({ name: "program", command: [process.execPath, "-e", "process.exit(3)"] }),
    ],
    { data },
  );
  for (const name of ["far", "model", "program"]) {
    const { body } = await rpc(`${server.url}/agents/${name}`, "SendMessage", V1.sendParams("go"));
    const { id, status } = taskOf(body);
    expect([name, status.state]).toEqual([name, "TASK_STATE_FAILED"]);
    const { text, json } = await why(data, id);
    const error = json.attempts.at(-1).error;
    expect([name, error]).toEqual([name, expect.objectContaining({ name: expect.any(String) })]);
    expect(text).toContain(`thrown: ${error.name}`);
    expect(text).not.toContain("planted-key");
    expect(JSON.stringify(body)).not.toContain(error.stack.split("\n")[1]?.trim() ?? error.stack);
  }
});

it("no dialect writes it, for any operation", () => {
  const error = {
    name: "RangeError",
    message: OUTER,
    stack: "thrown.test",
    causes: [{ name: "E", message: INNER }],
  };
  const message = { messageId: "m", role: "user", parts: [{ kind: "text", text: "go" }] } as const;
  const events = [
    { type: "created", id: "t", contextId: "c", agent: "a", origin: "v1", shown: true },
    { type: "message", message },
    { type: "started", attempt: 1 },
    { type: "status", state: "failed", broken: true, error, message: { ...message, role: "agent" } },
  ] as unknown as readonly TaskEvent[];
  let task: Task | null = null;
  for (const [i, event] of events.entries()) {
    const recorded: RecordedEvent = { seq: (i + 1) as Seq, at: 1, event };
    task = apply(task, recorded);
  }
  expect(isTold(JSON.stringify(task))).toBe(false);
  const { id: taskId, contextId } = task as unknown as Task;
  const step = { seq: 4 as Seq, at: 1, taskId, contextId, event: events[3], task } as unknown as Step;
  const config = { id: "p", url: "https://hooks.example/", origin: "v1", events: "all" as const };
  // The others show turns: test/behaviour/equivalence-front-ends.test.ts.
  const dialects = createDialects(SETTINGS).filter(({ routes }) =>
    routes.some(({ transport }) => transport === "jsonrpc"),
  );
  expect(dialects.length).toBeGreaterThan(7);
  for (const dialect of dialects) {
    const forms = [undefined, "values", "updates", "events", "messages"];
    const encoded = [
      dialect.encode(
        { op: "get" } as unknown as Operation,
        { kind: "task", task, agent: toAgent(breaker) } as never,
      ),
      ...forms.flatMap(form => [dialect.encodeStep(step, true, form), dialect.encodeStep(step, false, form)]),
      dialect.encodePush(step, { ...config, origin: dialect.name }),
    ];
    expect([dialect.name, isTold(JSON.stringify(encoded))]).toEqual([dialect.name, false]);
    expect([dialect.name, encoded.some(one => one !== null)]).toEqual([dialect.name, true]);
  }
});
