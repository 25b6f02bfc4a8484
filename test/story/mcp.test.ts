import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { toSettings } from "../../src/config/config.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The agents as tools, for the official MCP client of both generations. */

let server: TestServer;
let gate: Gate;
const clients: Client[] = [];

const worker: AgentDefinition = {
  name: "worker",
  description: "Works hard",
  skills: [{ id: "count", name: "Count", description: "Counts things" }],
  async *run(task, ctx) {
    if (task.turn > 1) return yield ctx.text(`You chose ${task.text}`);
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "fail") return yield ctx.fail("It is broken");
    if (task.text === "wait") {
      yield ctx.text("begun ");
      await Promise.race([
        gate.opened,
        new Promise(resolve => ctx.signal.addEventListener("abort", resolve)),
      ]);
    }
    yield ctx.text(`heard ${task.text}`);
    if (task.input.n !== undefined) yield ctx.data({ n: task.input.n });
    if (task.text === "files") {
      yield ctx.file({ name: "a.png", bytes: "AAEC" });
      yield ctx.file({ name: "a.csv", bytes: "AAEC" });
      yield ctx.file({ name: "b.pdf", url: "https://x.example/b.pdf" });
    }
  },
};
const replier: AgentDefinition = {
  name: "replier",
  replies: "message",
  run: (task, ctx) => ctx.reply(`re: ${task.text}`),
};

afterEach(async () => {
  await Promise.all(clients.splice(0).map(client => client.close()));
  await server.stop();
});

type Era = "2025" | "2026";
async function start(settings: Parameters<typeof serve>[1] = {}): Promise<void> {
  gate = createGate();
  server = await serve([worker, replier], { mcp: true, ...settings });
}
async function connect(era: Era = "2026", headers: Record<string, string> = {}): Promise<Client> {
  const options = era === "2026" ? { versionNegotiation: { mode: "auto" as const } } : {};
  const client = new Client({ name: "test", version: "1.0.0" }, options);
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers },
  });
  await client.connect(transport);
  clients.push(client);
  return client;
}

interface Result {
  readonly content: readonly Record<string, unknown>[];
  readonly structuredContent?: {
    task?: string;
    context?: string;
    state?: string;
    text?: string;
    data?: unknown;
  };
  readonly isError?: boolean;
}
const callTool = async (client: Client, name: string, input: object, options: object = {}): Promise<Result> =>
  (await client.callTool({ name, arguments: input as never }, options)) as unknown as Result;
const textIn = ({ content }: Result): string => content.map(block => block.text ?? "").join("\n");

describe.each(["2025", "2026"] as const)("for a client of %s", era => {
  it("each agent is a tool, described by its card", async () => {
    await start();
    const { tools } = await (await connect(era)).listTools();
    expect(tools.map(tool => tool.name)).toEqual(["worker", "replier", "get_task", "cancel_task"]);
    expect(tools[0]?.description).toBe("Works hard\n- Count: Counts things");
    expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual([
      "message",
      "data",
      "task",
      "context",
    ]);
  });

  it("a message is the input, text and data are the output", async () => {
    await start();
    const client = await connect(era);
    const result = await callTool(client, "worker", { message: "this", data: { n: 7 } });
    expect(textIn(result)).toBe('heard this\n{"n":7}');
    expect(result.structuredContent).toMatchObject({ state: "completed", data: [{ n: 7 }] });
    expect(textIn(result)).toContain(result.structuredContent?.text);
    expect(result.isError).not.toBe(true);
    expect(textIn(await callTool(client, "replier", { message: "hi" }))).toBe("re: hi");
  });

  it("progress is sent if the client requests it", async () => {
    await start();
    const client = await connect(era);
    const progress: string[] = [];
    const onprogress = ({ message }: { message?: string }): void => {
      progress.push(message ?? "");
      if (progress.join("").includes("begun")) gate.open();
    };
    const result = await callTool(client, "worker", { message: "wait" }, { onprogress });
    expect(textIn(result)).toBe("begun heard wait");
    expect(progress.join("")).toMatch(/The task \S+ has started\. begun /);
  });
});

it("calls are counted like all others, by operation and outcome", async () => {
  await start({ mcpWaitMs: 50 });
  const client = await connect();
  const waiting = await callTool(client, "worker", { message: "wait" });
  const { task } = waiting.structuredContent ?? {};
  await callTool(client, "worker", { message: "this" }, { onprogress: () => {} });
  await callTool(client, "get_task", { task });
  await callTool(client, "cancel_task", { task });
  await callTool(client, "get_task", { task: "nobody" });
  await callTool(client, "worker", {});
  await callTool(client, "nobody", { message: "hi" });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const counted = metrics.match(/^dragoman_calls_total\{dialect="mcp".*$/gm)?.map(line => {
    const [, ...labels] = /binding="(\w+)",operation="(\w+)",outcome="([\w-]+)"\} (\d+)/.exec(line) ?? [];
    return labels.join(" ");
  });
  expect(counted?.sort()).toEqual([
    "mcp cancel ok 1",
    "mcp get ok 1",
    "mcp get task-not-found 1",
    "mcp none agent-not-found 1",
    "mcp none invalid-params 1",
    "mcp send ok 1",
    "mcp stream ok 1",
  ]);
});

describe("a long run", () => {
  it("returns a handle, which can be polled", async () => {
    await start({ mcpWaitMs: 50 });
    const client = await connect();
    const waiting = await callTool(client, "worker", { message: "wait" });
    const { task, state } = waiting.structuredContent ?? {};
    expect(["submitted", "working"]).toContain(state);
    expect(textIn(waiting)).toContain(`Call get_task with the task ${task}.`);
    gate.open();
    for (let result = waiting; ; ) {
      result = await callTool(client, "get_task", { task });
      if (/submitted|working/.test(result.structuredContent?.state ?? "")) continue;
      expect([textIn(result), result.structuredContent?.state]).toEqual(["begun heard wait", "completed"]);
      return;
    }
  });

  it("can be canceled", async () => {
    await start({ mcpWaitMs: 50 });
    const client = await connect();
    const { structuredContent } = await callTool(client, "worker", { message: "wait" });
    const canceled = await callTool(client, "cancel_task", { task: structuredContent?.task });
    expect(canceled.structuredContent?.state).toBe("canceled");
    const again = await callTool(client, "get_task", { task: structuredContent?.task });
    expect([again.structuredContent?.state, again.isError]).toEqual(["canceled", true]);
  });
});

it("a question is returned, and the answer goes to the same task", async () => {
  await start();
  const client = await connect();
  const asked = await callTool(client, "worker", { message: "ask" });
  const { task } = asked.structuredContent ?? {};
  expect(textIn(asked)).toContain("Which one?\nThe agent requires input: call worker again");
  const answered = await callTool(client, "worker", { message: "this", task });
  expect([textIn(answered), answered.structuredContent?.task]).toEqual(["You chose this", task]);
});

it("files are returned with their media types", async () => {
  await start();
  const { content } = await callTool(await connect(), "worker", { message: "files" });
  expect(content).toEqual([
    { type: "text", text: "heard files" },
    { type: "image", data: "AAEC", mimeType: "image/png" },
    { type: "resource", resource: { uri: "file:///a.csv", mimeType: "text/csv", blob: "AAEC" } },
    { type: "resource_link", uri: "https://x.example/b.pdf", name: "b.pdf", mimeType: "application/pdf" },
  ]);
});

it("an invalid call returns its reason", async () => {
  await start();
  const client = await connect();
  const wrong: readonly (readonly [string, object, RegExp])[] = [
    ["worker", {}, /^Invalid params: message is missing: give a message, or data$/],
    ["worker", { message: "x", task: "nope" }, /^Task not found$/],
    ["get_task", {}, /^Invalid params: task is required and must be a non-empty string$/],
    ["nobody", { message: "x" }, /^Unknown tool "nobody"$/],
    ["worker", { message: "fail" }, /^It is broken$/],
  ];
  for (const [name, input, words] of wrong) {
    const result = await callTool(client, name, input);
    expect([result.isError, textIn(result)]).toEqual([true, expect.stringMatching(words)]);
  }
});

it("callers are authenticated as everywhere else, and see their own tasks only", async () => {
  const { auth, apiKeys } = await toSettings(
    {
      auth: "api-key",
      apiKeys: ["alice", "bob"].map(principal => ({ key: `the secret key of ${principal}`, principal })),
    },
    "/",
    "test",
  );
  await start({ auth, apiKeys });
  await expect(connect()).rejects.toThrow();
  const alice = await connect("2026", { "x-api-key": "the secret key of alice" });
  const bob = await connect("2026", { "x-api-key": "the secret key of bob" });
  const { structuredContent } = await callTool(alice, "worker", { message: "ask" });
  const { task } = structuredContent ?? {};
  expect((await callTool(alice, "get_task", { task })).structuredContent?.state).toBe("input-required");
  expect(textIn(await callTool(bob, "get_task", { task }))).toBe("Task not found");
});

it("it is disabled by default", async () => {
  server = await serve([worker]);
  expect((await fetch(`${server.url}/mcp`, { method: "POST", body: "{}" })).status).toBe(404);
});
