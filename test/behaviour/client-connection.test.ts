import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createGrpc } from "../../src/client/grpc/index.ts";
import {
  answers,
  type ConnectedAgent,
  type ConnectOptions,
  connect,
  type JsonObject,
  questionsOf,
  replyText,
  toBlob,
  UnavailableError,
} from "../../src/client/index.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";

/** What `dragoman/client` does besides sending: credentials, retries, files, lists, webhooks, and the end of a call. */

let runs: string[] = [];
const worker = {
  name: "worker",
  inputModes: ["*/*"],
  // biome-ignore lint/suspicious/noExplicitAny: an agent for every test.
  async *run(task: any, ctx: any): AsyncGenerator<any> {
    runs.push(task.text);
    if (task.text === "reply") return yield ctx.reply("just a message");
    if (task.text === "forms") return yield ctx.askAll({ size: "Which size?", color: "Which color?" });
    if (task.answers.size) return yield ctx.text(`${task.answers.size} and ${task.answers.color}`);
    if (task.text === "idle") await new Promise(resolve => ctx.signal.addEventListener("abort", resolve));
    for (const file of task.files ?? []) yield ctx.file(file);
    yield ctx.text(`You said: ${task.text}`);
  },
};

let server: TestServer;
let proxy: TestProxy;
let agent: ConnectedAgent;
beforeAll(async () => {
  proxy = await startProxy();
  server = await serve([worker], { publicUrl: proxy.url });
  proxy.target = server.url;
});
afterEach(() => {
  agent?.close();
  proxy.instead = () => false;
  runs = [];
});
afterAll(async () => {
  await server.stop();
  await proxy.close();
});

const open = async (options: ConnectOptions = {}, to: Parameters<typeof connect>[0] = proxy.url) =>
  (agent = await connect(to, { retryDelaysMs: [5, 5, 5], ...options }));

/** The card of the agent with one interface, which is changed. */
async function cardWith(change: JsonObject): Promise<JsonObject> {
  const { card } = await open();
  const [first] = card.supportedInterfaces as readonly JsonObject[];
  return { ...card, url: null, supportedInterfaces: [{ ...first, ...change }] };
}

describe("connect", () => {
  it("accepts a URL object, the address of a card, a card, and the name of an agent", async () => {
    const { card } = await open({}, new URL(proxy.url));
    expect(agent.endpoint).toEqual({
      url: `${proxy.url}/agents/worker`,
      protocol: "A2A 1.0",
      transport: "JSONRPC",
    });
    for (const to of [`${proxy.url}/.well-known/agent-card.json`, card, proxy.url]) {
      await open({ agent: to === proxy.url ? "worker" : undefined }, to);
      expect(replyText(await agent.send("hi"))).toBe("You said: hi");
    }
  });

  it("says what is wrong with the address", async () => {
    await expect(connect("nonsense://x")).rejects.toThrow('"nonsense://x" is not the URL of an agent');
    await expect(connect(`${proxy.url}/nowhere`)).rejects.toThrow("404");
    await expect(connect("http://127.0.0.1:9", { retryDelaysMs: [1] })).rejects.toBeInstanceOf(
      UnavailableError,
    );
  });

  it("says that it cannot use any interface of the card", async () => {
    const card = await cardWith({ protocolBinding: "GRPC", protocolVersion: "1.0" });
    await expect(connect(card)).rejects.toMatchObject({
      name: "ClientError",
      code: "version-not-supported",
      message: expect.stringMatching(
        /offers GRPC 1\.0; this client supports JSONRPC, HTTP\+JSON, A2A up to 1\.0$/,
      ),
    });
    await expect(connect(card, { dialect: "v1", transport: "GRPC" })).rejects.toMatchObject({
      code: "version-not-supported",
      message: expect.stringContaining("needs the URL as an option, and in dragoman/client the option grpc"),
    });
    for (const one of [{ protocolBinding: "SOAP" }, { protocolVersion: "9.0" }])
      await expect(connect(await cardWith(one))).rejects.toMatchObject({ code: "version-not-supported" });
  });

  it("is ended by a signal", async () => {
    const stop = AbortSignal.abort(new Error("enough"));
    await expect(connect(proxy.url, { signal: stop })).rejects.toThrow("enough");
  });
});

describe("messages", () => {
  it("carry text, data, links and files, and files come back", async () => {
    await open();
    const bytes = new Uint8Array([0, 255, 128, 7]);
    const sent = await agent.send([
      "with files",
      { data: { a: 1 } },
      new File([bytes], "b.bin", { type: "application/x-b" }),
      { bytes, filename: "c.bin" },
    ]);
    expect(sent.history[0]?.parts.map(({ kind }) => kind)).toEqual(["text", "data", "bytes", "bytes"]);
    const files = sent.artifacts.flatMap(({ parts }) => parts).filter(part => part.kind === "bytes");
    expect(files.map(({ filename }) => filename)).toEqual(["b.bin", "c.bin"]);
    const blob = toBlob(files[0] as (typeof files)[0]);
    expect([blob.type, new Uint8Array(await blob.arrayBuffer())]).toEqual(["application/x-b", bytes]);
  });

  it("are answered with a bare message, which has no task", async () => {
    await open();
    const { id, state, message } = await agent.send("reply");
    expect([id, state, message?.parts]).toEqual([
      "",
      "completed",
      [{ kind: "text", text: "just a message" }],
    ]);
  });

  it("answer several questions by their ids", async () => {
    await open();
    const asked = await agent.send("forms");
    expect(questionsOf(asked)).toEqual([
      { id: "size", question: "Which size?" },
      { id: "color", question: "Which color?" },
    ]);
    const done = await agent.task(asked.id).answer(answers({ size: "L", color: "red" }));
    expect([done.state, replyText(done)]).toEqual(["completed", "L and red"]);
    expect(questionsOf(done)).toEqual([]);
  });
});

const unavailable = (response: ServerResponse): true => {
  response.writeHead(503, { "retry-after": "0" }).end();
  return true;
};

describe("an unavailable server", () => {
  it("is called again: 503, and a response that is lost, start one run", async () => {
    const notes: string[] = [];
    await open({ onRetry: text => notes.push(text) });
    let calls = 0;
    proxy.instead = (body, response) => {
      if (!body.includes("SendStreamingMessage")) return false;
      calls += 1;
      if (calls === 1) return unavailable(response);
      // The message arrives; its answer does not.
      if (calls === 2) response.writeHead = () => response.destroy();
      return false;
    };
    expect(replyText(await agent.send("once"))).toBe("You said: once");
    expect([calls, runs]).toEqual([3, ["once"]]);
    expect(notes).toHaveLength(2);
    expect(proxy.calls.at(-1)?.headers["idempotency-key"]).toMatch(/^\d+-\d+$/);
  });

  it("without resend, a message that may have arrived is not sent again", async () => {
    await open({ resend: false });
    proxy.instead = (_, response) => {
      response.destroy();
      return true;
    };
    await expect(agent.send("twice?")).rejects.toMatchObject({ code: "unavailable" });
    expect(proxy.calls.filter(({ body }) => body.includes("twice?"))).toHaveLength(1);
    expect(proxy.calls.at(-1)?.headers).not.toHaveProperty("idempotency-key");
  });

  it("is given up after the last delay", async () => {
    await open();
    proxy.instead = (_, response) => unavailable(response);
    await expect(agent.task("t").get()).rejects.toMatchObject({
      name: "UnavailableError",
      code: "unavailable",
    });
  });
});

describe("credentials", () => {
  it("a refused token is asked for again, once", async () => {
    const asked: boolean[] = [];
    const token = (refused: boolean): string => {
      asked.push(refused);
      return refused ? "fresh" : "expired";
    };
    proxy.instead = (_, response, { headers }) => {
      if (headers.authorization === "Bearer fresh") return false;
      response.writeHead(401).end();
      return true;
    };
    await open({ token });
    expect(replyText(await agent.send("hi"))).toBe("You said: hi");
    expect(asked).toContain(true);
    await expect(connect(proxy.url, { token: "wrong" })).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("are not sent to another origin than the one that was named", async () => {
    const address = server.url;
    const started = proxy.calls.length;
    await open({ token: "secret", headers: { "x-key": "secret" } }, address);
    expect(agent.endpoint.url).toBe(`${proxy.url}/agents/worker`);
    await agent.send("hi");
    expect(JSON.stringify(proxy.calls.slice(started))).not.toContain("secret");
  });
});

describe("tasks", () => {
  it("are listed by pages", async () => {
    await open();
    const { contextId } = await agent.send("one");
    await agent.send("two", { contextId });
    const first = await agent.list({ contextId, pageSize: 1 });
    expect([first.tasks.length, first.totalSize]).toEqual([1, 2]);
    const second = await agent.list({ contextId, pageSize: 1, pageToken: first.nextPageToken });
    expect(second.tasks).toHaveLength(1);
    expect(second.tasks[0]?.id).not.toBe(first.tasks[0]?.id);
  });

  it.each([
    ["v1", "JSONRPC"],
    ["v1", "HTTP+JSON"],
    ["v0.3", "JSONRPC"],
    ["v0.3", "HTTP+JSON"],
    ["v0.2", "JSONRPC"],
    ["v1", "GRPC"],
    ["v0.3", "GRPC"],
  ] as const)("have webhooks in %s over %s", async (dialect, transport) => {
    // gRPC is not called through the proxy.
    const url = transport === "GRPC" ? server.url : dialect === "v0.2" ? `${proxy.url}/` : undefined;
    await open({ dialect, transport, url, grpc: createGrpc });
    const { push } = agent.task((await agent.send("hi")).id);
    const authentication = { scheme: "Bearer", credentials: "secret" };
    const set = await push.set({ id: "w1", url: "https://hooks.example/1", token: "t", authentication });
    expect(set).toMatchObject({ id: "w1", url: "https://hooks.example/1" });
    expect(await push.get("w1")).toMatchObject({ id: "w1", authentication: { scheme: "Bearer" } });
    expect((await push.list()).map(({ id }) => id)).toEqual(["w1"]);
    await push.delete("w1");
    expect(await push.list()).toEqual([]);
    await expect(push.set({ url: "nonsense" })).rejects.toMatchObject({ code: "invalid-params" });
  });

  it("are read to their end by a tail that waits for the answers of others, over a lost connection", async () => {
    await open();
    const asked = await agent.send("forms");
    const states: string[] = [];
    for await (const { task } of agent.task(asked.id).tail({ until: "terminal" })) {
      if (states.push(task.state) > 1) continue;
      proxy.cut();
      const other = await connect(server.url);
      await other.task(asked.id).answer(answers({ size: "L", color: "red" }));
      other.close();
    }
    expect([states[0], states.at(-1)]).toEqual(["input-required", "completed"]);
  });

  it.each(["v1", "v0.3"] as const)("are canceled in %s although the response is lost", async dialect => {
    await open({ dialect });
    const stream = agent.stream("idle");
    const { value } = await stream.next();
    const isCancel = (body: string): boolean => /"method":"(CancelTask|tasks\/cancel)"/.test(body);
    let calls = 0;
    proxy.instead = (body, response) => {
      if (isCancel(body) && ++calls === 1) response.writeHead = () => response.destroy();
      return false;
    };
    expect((await agent.task(value?.task.id ?? "").cancel()).state).toBe("canceled");
    expect(calls).toBe(2);
    await stream.return();
  });

  it("have no webhooks and no list in a dialect without them", async () => {
    await open({ dialect: "v0.1", url: `${proxy.url}/` });
    await expect(agent.task("t").push.list()).rejects.toMatchObject({ code: "push-not-supported" });
    await expect(agent.list()).rejects.toMatchObject({ code: "unsupported-operation" });
  });
});

describe("a call that is ended", () => {
  it("by its signal leaves the task running", async () => {
    await open();
    const stop = new AbortController();
    let id = "";
    const reading = (async () => {
      for await (const { task } of agent.stream("idle", { signal: stop.signal })) {
        id = task.id;
        if (task.state === "working") stop.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    expect((await agent.task(id).get()).state).toBe("working");
    expect((await agent.task(id).cancel()).state).toBe("canceled");
    const ended = await agent.send("hi");
    await expect(agent.task(ended.id).cancel()).rejects.toMatchObject({ code: "task-not-cancelable" });
  });

  it("by close, as all others", async () => {
    const closed = await open();
    const stream = closed.stream("idle");
    await stream.next();
    closed.close();
    await expect(async () => {
      for await (const _ of stream);
    }).rejects.toThrow("closed");
  });
});
