import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGrpc } from "../../src/client/grpc/index.ts";
import {
  type ConnectedAgent,
  connect,
  questionsOf,
  RemoteError,
  replyText,
  type TaskUpdate,
  textOf,
} from "../../src/client/index.ts";
import { CLIENT_BINDINGS, DIALECT_NAMES, type DialectName } from "../../src/client/protocols.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";

/** `dragoman/client` against this server: each dialect over each of its transports, through a proxy that can fail. */

const WORDS = Array.from({ length: 20 }, (_, n) => `word${n} `);
const gates = new Map<string, Gate>();
const worker = {
  name: "worker",
  inputModes: ["*/*"],
  // biome-ignore lint/suspicious/noExplicitAny: an agent for every test.
  async *run(task: any, ctx: any): AsyncGenerator<any> {
    if (task.turn > 1) return yield ctx.text(`You chose ${task.text}`);
    if (task.text === "ask") return yield ctx.ask("Which one?");
    const [verb, key] = task.text.split(" ");
    for (const [n, word] of WORDS.entries()) {
      yield ctx.text(word);
      if (n === 2) yield ctx.status("begun");
      if (verb === "wait" && n === 9) await gates.get(key)?.opened;
    }
    if (task.text === "data") yield ctx.data({ total: 3 });
  },
};

const ENDPOINTS: Partial<Record<DialectName, string>> = {
  langgraph: "/a2a/worker",
  orloj: "/v1/agent-systems/worker/a2a",
  arbiter: "/v1/a2a/agents/worker",
};
const CASES = DIALECT_NAMES.flatMap(name =>
  CLIENT_BINDINGS[name].map(({ transport }) => [name, transport] as const),
);

let server: TestServer;
let proxy: TestProxy;
beforeAll(async () => {
  proxy = await startProxy();
  server = await serve([worker], { publicUrl: proxy.url });
  proxy.target = server.url;
});
afterAll(async () => {
  await server.stop();
  await proxy.close();
});

async function collect(
  updates: AsyncIterable<TaskUpdate>,
  onUpdate: (update: TaskUpdate, nth: number) => void = () => {},
): Promise<{ text: string; said: string[]; all: TaskUpdate[] }> {
  const all: TaskUpdate[] = [];
  for await (const update of updates) onUpdate(update, all.push(update));
  const text = all.map(one => (one.kind === "artifact" ? textOf(one.artifact.parts) : "")).join("");
  const said = all.flatMap(one => (one.kind === "status" && one.message ? [textOf(one.message.parts)] : []));
  return { text, said, all };
}

describe.each(CASES)("in %s over %s", (dialect, transport) => {
  let agent: ConnectedAgent;
  beforeAll(async () => {
    // gRPC is not called through the proxy, and only the older vendors need a path of their own.
    const isOld = ["v0.2", "v0.1", "simple"].includes(dialect);
    const path = ENDPOINTS[dialect] ?? (isOld ? "/" : undefined);
    const base = transport === "GRPC" ? server.url : proxy.url;
    const url = transport === "GRPC" ? server.url : path && `${base}${path}`;
    agent = await connect(base, { dialect, transport, url, grpc: createGrpc, retryDelaysMs: [5, 5, 5] });
  });
  afterAll(() => agent.close());

  it("streams every word once, with the task so far", async () => {
    const { text, all } = await collect(agent.stream("data"));
    expect(text).toBe(WORDS.join(""));
    const last = all.at(-1)?.task;
    expect(last).toMatchObject({ state: "completed" });
    expect(last && replyText(last)).toBe(WORDS.join(""));
    const stored = await agent.task(last?.id ?? "", last?.contextId).get();
    expect([stored.state, replyText(stored)]).toEqual(["completed", WORDS.join("")]);
    expect(last?.history.map(({ role }) => role)).toContain("user");
  });

  it("continues a stream whose connection was cut, and repeats nothing", async () => {
    if (transport === "GRPC") return;
    const key = `${dialect}-${transport}`;
    gates.set(key, createGate());
    const { text, said, all } = await collect(agent.stream(`wait ${key}`), ({ task }) => {
      // Orloj's streams have no text before the end.
      const isReached = dialect === "orloj" || replyText(task).endsWith("word9 ");
      if (!isReached || !gates.has(key)) return;
      gates.get(key)?.open();
      gates.delete(key);
      proxy.cut();
    });
    expect(text).toBe(WORDS.join(""));
    expect(said.filter(one => one === "begun").length).toBeLessThan(2);
    expect(all.at(-1)?.task.state).toBe("completed");
  });

  it("asks, and is answered", async () => {
    const asked = await agent.send("ask");
    expect(asked.state).toBe("input-required");
    expect(questionsOf(asked).map(({ question }) => question)).toEqual(["Which one?"]);
    // In Arbiter's dialect every message creates a task.
    if (dialect === "arbiter") return;
    const answered = await agent.task(asked.id, asked.contextId).answer("this");
    expect([answered.state, replyText(answered)]).toEqual(["completed", "You chose this"]);
  });

  it("cancels, and reads a task that has ended", async () => {
    gates.set("cancel", createGate());
    const stream = agent.stream("wait cancel");
    const first = (await stream.next()).value as TaskUpdate;
    const task = agent.task(first.task.id, first.task.contextId);
    const canceled = await task.cancel();
    expect(canceled.state).toBe("canceled");
    await stream.return();
    const { all } = await collect(task.tail());
    expect(all.at(-1)?.task.state).toBe("canceled");
  });

  it("names the fault of an unknown task", async () => {
    const error = await agent
      .task("no-such-task", "no-such-context")
      .get()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: "task-not-found" });
  });
});
