import { afterEach, expect, it } from "vitest";
import { createChatProtocol } from "../../examples/chat-protocol/protocol.ts";
import { createSessionAuth } from "../../examples/session-auth/auth.ts";
import { agent, createHandler, createServer, defineConfig, type ServerOptions } from "../../src/index.ts";
import { DEFAULT_PERMISSIONS, type RemoteBusParts } from "../../src/ports/index.ts";
import { createMemoryBackend, createSingleNodeStore } from "../../src/store/index.ts";
import { rpc, sendParams } from "../support/client.ts";
import { createTestLog } from "../support/server.ts";
import { textOf } from "../support/wire.ts";

/** Parts of the server that a program brings itself. */

const echo = agent({ name: "echo", run: task => task.text });
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
async function start(options: ServerOptions): Promise<string> {
  const log = createTestLog();
  const server = await createServer({ agents: [echo], data: ":memory:", port: 0, ...options }, { log });
  opened.push(server.close);
  return server.url;
}

it("a server of a program listens, and is closed once, however often it is asked to", async () => {
  const server = await createServer({ agents: [echo], data: ":memory:", port: 0 }, { log: createTestLog() });
  expect(textOf((await rpc(server.url, "SendMessage", sendParams("hi"))).body)).toBe("hi");
  await Promise.all([server.close(), server.close()]);
  await expect(fetch(server.url)).rejects.toThrow();
});

it("tasks are in the store that the program opens, and its bus notifies readers", async () => {
  const backend = createMemoryBackend();
  const notified: string[] = [];
  const listeners = new Map<string, Set<{ wake(): void }>>();
  let isClosed = false;
  const bus = ({ node }: RemoteBusParts) => ({
    notify(topic: string) {
      notified.push(topic);
      for (const listener of listeners.get(topic) ?? []) listener.wake();
    },
    subscribe: (topic: string, listener: { wake(): void }) =>
      void listeners.set(topic, (listeners.get(topic) ?? new Set()).add(listener)),
    unsubscribe: (topic: string, listener: { wake(): void }) => void listeners.get(topic)?.delete(listener),
    close: async () => void (isClosed = node !== ""),
  });
  const url = await start({ store: parts => createSingleNodeStore({ ...parts, backend }), bus });
  const { id } = (await rpc(url, "SendMessage", sendParams("hi"))).body.result.task;
  expect(backend.load(id)?.task.status.state).toBe("completed");
  expect(notified).toContain(id);
  await opened.pop()?.();
  expect(isClosed).toBe(true);
});

it("a protocol of the program is served beside the others, with the same tasks", async () => {
  const url = await start({ protocols: [createChatProtocol()] });
  const post = (body: object) =>
    fetch(`${url}/simple-chat/echo`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const { task } = (await (await post({ text: "hi" })).json()) as { task: string };
  expect(textOf((await rpc(url, "GetTask", { id: task })).body)).toBe("hi");
  const bad = await post({ text: 7 });
  expect([bad.status, await bad.json()]).toEqual([
    400,
    { error: { code: "invalid-params", message: "text must be a text" } },
  ]);
});

it("authentication methods of the program replace the default, and are tried before those of auth", async () => {
  const ada = { principal: "ada", tenants: ["default"], grants: DEFAULT_PERMISSIONS, agents: undefined };
  const sessions = createSessionAuth({ find: id => (id === "1" ? ada : undefined) });
  const apiKeys = [{ key: "the secret key of a program", principal: "program" }];
  const url = await start({ authenticators: [sessions], auth: "api-key", apiKeys });
  const send = async (headers: Record<string, string>) =>
    (await rpc(url, "SendMessage", sendParams("hi"), headers)).status;
  expect(await send({ cookie: "session=1" })).toBe(200);
  expect(await send({ "x-api-key": "the secret key of a program" })).toBe(200);
  expect(await send({ cookie: "session=2" })).toBe(401);
  expect(await send({})).toBe(401);
  const alone = await start({ authenticators: [sessions] });
  expect((await rpc(alone, "SendMessage", sendParams("hi"))).status).toBe(401);
});

it("a runtime of the program makes agents of entries that name it", async () => {
  const runtimes = {
    repeating: ({ name, times }: { readonly name: string; readonly [option: string]: unknown }) =>
      agent({ name, run: task => task.text.repeat(Number(times)) }),
  };
  const url = await start({ agents: [{ runtime: "repeating", name: "twice", times: 2 }], runtimes });
  expect(textOf((await rpc(url, "SendMessage", sendParams("ha"))).body)).toBe("haha");
  const unknown = createServer({ agents: [{ runtime: "none", name: "x" }], runtimes, data: ":memory:" });
  await expect(unknown).rejects.toThrow(/Unknown runtime "none"; available: .*openai.*, repeating/);
});

it("parts that contradict each other are refused at the start", async () => {
  const store = () => {
    throw new Error("not opened");
  };
  const log = createTestLog();
  const data = "postgres://user@127.0.0.1:1/none";
  await expect(createHandler({ agents: [echo], data, store }, { log })).rejects.toThrow(
    "brings a store of its own",
  );
  await expect(start({ store })).rejects.toThrow("not opened");
  const twice = [createChatProtocol(), createChatProtocol()];
  await expect(start({ protocols: twice })).rejects.toThrow('two protocols with the name "chat"');
  await expect(start({ stores: 1 } as object)).rejects.toThrow('createServer: there is no option "stores"');
});

it("entries of a config are typed by their runtime", () => {
  defineConfig({ agents: [{ runtime: "openai", name: "chat", baseUrl: "http://x/v1", model: "m" }] });
  // @ts-expect-error: a model is required.
  defineConfig({ agents: [{ runtime: "openai", name: "chat", baseUrl: "http://x/v1" }] });
  // @ts-expect-error: there is no such runtime.
  defineConfig({ agents: [{ runtime: "opnai", name: "chat", model: "m" }] });
  // @ts-expect-error: a graph is named by its file.
  defineConfig({ agents: [{ runtime: "langgraph", name: "planner" }] });
  const config = defineConfig({ agents: [{ runtime: "process", name: "p", command: ["python3", "a.py"] }] });
  expect(config.agents).toHaveLength(1);
});
