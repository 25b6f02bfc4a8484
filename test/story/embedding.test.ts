import { TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { agent, createHandler, type HandlerOptions, type MountedServer } from "dragoman";
import { afterEach, describe, expect, it } from "vitest";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { aborted, createGate } from "../support/gate.ts";
import * as hosts from "../support/hosts.ts";
import {
  asTask,
  byId,
  firstTask,
  lastState,
  resultOf,
  sendRequest,
  stateOf,
  streamed,
} from "../support/sdk-v1.ts";
import { createTestLog, tempFolder } from "../support/server.ts";

const echo = agent({
  name: "echo",
  async *run(task, ctx) {
    yield ctx.text("You said: ");
    yield ctx.text(task.text);
  },
});
const slow = agent({
  name: "slow",
  replies: "task",
  async *run(_task, ctx) {
    yield ctx.text("begun");
    await aborted(ctx.signal);
  },
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const CONFIG = { agents: [echo, slow], data: ":memory:", cancelGraceMs: 300, drainMs: 300 };

/** A host with our agents in it, and their base URL. */
async function open(
  openHost: hosts.OpenHost,
  parts: HandlerOptions = {},
  config: Parameters<typeof createHandler>[0] = CONFIG,
): Promise<{
  readonly mounted: MountedServer;
  readonly host: hosts.Host;
  readonly log: ReturnType<typeof createTestLog>;
}> {
  const log = createTestLog();
  const mounted = await createHandler(config, { log, ...parts });
  opened.push(mounted);
  const host = await openHost(mounted);
  opened.push(host);
  return { mounted, host, log };
}

const TRANSPORTS = { JSONRPC: new JsonRpcTransportFactory(), "HTTP+JSON": new RestTransportFactory() };

function connect(url: string, transport: keyof typeof TRANSPORTS): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [TRANSPORTS[transport]],
    preferredTransports: [transport],
  });
  return new ClientFactory(options).createFromUrl(`${url}/`);
}

const HOSTS: readonly (readonly [string, hosts.OpenHost, string, HandlerOptions])[] = [
  ["a Node server", hosts.onNode, "", {}],
  ["Express", hosts.onExpress, hosts.PATH, {}],
  ["Express, with the path as an option", hosts.onExpress, hosts.PATH, { path: hosts.PATH }],
  ["Express, after a body parser", hosts.onParsingExpress, hosts.PATH, {}],
  [
    "Express, in a router that passes a part of the path",
    hosts.onNestedExpress,
    "/api/a2a",
    { path: "/api/a2a" },
  ],
  ["Fastify", hosts.onFastify, hosts.PATH, { path: hosts.PATH }],
  ["Hono, which strips the path", hosts.onHono, hosts.PATH, { path: hosts.PATH }],
  ["Hono, which keeps the path", hosts.onRoutingHono, hosts.PATH, { path: hosts.PATH }],
];

describe.each(HOSTS)("agents inside of %s", (_name, openHost, path, parts) => {
  it.each(["JSONRPC", "HTTP+JSON"] as const)("are called by the official client over %s", async transport => {
    const { host } = await open(openHost, parts);
    const base = host.url + path;
    const client = await connect(base, transport);
    const card = await client.getAgentCard();
    expect(card.supportedInterfaces.map(one => one.url)).toEqual(Array(4).fill(`${base}/agents/echo`));
    expect(resultOf(asTask(await client.sendMessage(sendRequest("hello"))))).toBe("You said: hello");
    const events = await Array.fromAsync(client.sendMessageStream(sendRequest("hello")));
    expect(streamed(events)).toBe("You said: hello");
    expect(lastState(events)).toBe(TaskState.TASK_STATE_COMPLETED);

    const other = await connect(`${base}/agents/slow`, transport);
    const stream = other.sendMessageStream(sendRequest("for long"));
    const { id } = await firstTask(stream);
    expect(stateOf(await other.cancelTask(byId(id)))).toBe(TaskState.TASK_STATE_CANCELED);
    expect(lastState(await Array.fromAsync(stream))).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it("leave other paths to the host, and know their base URL", async () => {
    const { host } = await open(openHost, parts);
    const { servers } = (await (await fetch(`${host.url}${path}/openapi.json`)).json()) as {
      servers: unknown;
    };
    expect(servers).toEqual([{ url: host.url + path }]);
    const nothing = await fetch(`${host.url}${path}/nothing/here/at/all`);
    expect([nothing.status, nothing.headers.get("content-type")]).toEqual([404, "application/json"]);
    const wrong = await fetch(`${host.url}${path}/agents`, { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    const own = await fetch(`${host.url}/other`);
    if (own.ok) expect(await own.text()).toBe("other");
  });

  it("notice when a caller disconnects during a stream; the run continues", async () => {
    const config = { ...CONFIG, streamsMax: 1 };
    const { host } = await open(openHost, parts, config);
    const url = `${host.url}${path}/agents/slow`;
    const stream = await openStream(url, "SendStreamingMessage", sendParams("for long"));
    const id = (await stream.next())?.data.result.task.id;
    expect((await rpc(url, "SubscribeToTask", { id })).body.error.message).toContain("stream");
    stream.close();
    await expect.poll(async () => (await openOnce(url, id)).status).toBe("stream");
    const state = async () => (await rpc(url, "GetTask", { id })).body.result.status.state;
    await expect.poll(state).toBe("TASK_STATE_WORKING");
  });

  it("end their streams after a whole event when they are closed, and refuse later calls", async () => {
    const { host, mounted } = await open(openHost, parts);
    const url = `${host.url}${path}/agents/slow`;
    const stream = await openStream(url, "SendStreamingMessage", sendParams("for long"));
    await stream.next();
    const closing = mounted.close();
    expect((await stream.all()).at(-1)?.data.result).toBeDefined();
    await closing;
    await mounted.close();
    const late = await fetch(`${host.url}${path}/agents`);
    expect(late.status).toBe(503);
  });
});

/** The result of a subscription: a stream, which is closed at once, or a refusal. */
async function openOnce(url: string, id: string): Promise<{ readonly status: "stream" | "refusal" }> {
  const stream = await openStream(url, "SubscribeToTask", { id });
  const isStream = stream.headers.get("content-type") === "text/event-stream";
  stream.close();
  return { status: isStream ? "stream" : "refusal" };
}

describe("a handler", () => {
  it("reports that Fastify has already read the body", async () => {
    const { host, log } = await open(hosts.onParsingFastify, { path: hosts.PATH });
    const { body } = await rpc(`${host.url}${hosts.PATH}/agents/echo`, "SendMessage", sendParams("hello"));
    expect(body.error.message).toContain("was consumed before");
    expect(log.lines.map(line => line.level)).toContain("error");
  });

  it("does not keep Fastify from closing while a stream is open", async () => {
    const { host } = await open(hosts.onFastify, { path: hosts.PATH });
    const url = `${host.url}${hosts.PATH}/agents/slow`;
    const stream = await openStream(url, "SendStreamingMessage", sendParams("for long"));
    await stream.next();
    const closing = host.close();
    expect((await stream.all()).length).toBeGreaterThan(0);
    await closing;
  });

  it("has a public URL that takes precedence over the URL of the host", async () => {
    const config = { ...CONFIG, publicUrl: "https://agents.example/a2a" };
    const { host } = await open(hosts.onExpress, {}, config);
    const reply = await fetch(`${host.url}${hosts.PATH}/agents`);
    const { agents } = (await reply.json()) as { agents: { url: string }[] };
    expect(agents[0]?.url).toBe("https://agents.example/a2a/agents/echo");
  });

  it("trusts the headers of a proxy in front of the host only if configured", async () => {
    const headers = {
      "X-Forwarded-Host": "agents.example",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Prefix": "/x",
    };
    const { host } = await open(hosts.onExpress, {}, { ...CONFIG, trustProxy: true });
    const reply = await fetch(`${host.url}${hosts.PATH}/openapi.json`, { headers });
    const { servers } = (await reply.json()) as { servers: unknown };
    expect(servers).toEqual([{ url: `https://agents.example/x${hosts.PATH}` }]);
  });

  it("stores its tasks as serve does: the next handler continues them", async () => {
    const folder = tempFolder();
    const gate = createGate();
    let runs = 0;
    const patient = agent({
      name: "patient",
      async *run(_task, ctx) {
        runs += 1;
        await Promise.race([gate.opened, aborted(ctx.signal)]);
        yield ctx.text("done");
      },
    });
    const config = { agents: [patient], data: folder.path, drainMs: 0 };
    const first = await open(hosts.onNode, {}, config);
    await expect(createHandler(config)).rejects.toThrow(/in use|another/);
    const started = await rpc(first.host.url, "SendMessage", {
      ...sendParams("wait"),
      configuration: { returnImmediately: true },
    });
    const { id } = started.body.result.task;
    await expect.poll(() => runs).toBe(1);
    await first.mounted.close();
    gate.open();
    const second = await open(hosts.onNode, {}, config);
    const get = async () => (await rpc(second.host.url, "GetTask", { id })).body.result.status.state;
    await expect.poll(get).toBe("TASK_STATE_COMPLETED");
    await second.mounted.close();
    folder.remove();
  });

  it("loads agents from files and validates its config like a config file", async () => {
    const { host } = await open(hosts.onNode, {}, { agents: ["examples/echo.ts"], data: ":memory:" });
    const { agents } = (await (await fetch(`${host.url}/agents`)).json()) as { agents: { name: string }[] };
    expect(agents.map(one => one.name)).toEqual(["echo"]);
    const wrong = { agents: [echo], data: ":memory:", streamMax: 3, runsMax: 0 } as object;
    await expect(createHandler(wrong)).rejects.toThrow(
      /createHandler: there is no option "streamMax" \(did you mean.*streamsMax[\s\S]*runsMax: expected/,
    );
    await expect(createHandler({ ...CONFIG, default: "nobody" })).rejects.toThrow(
      'The default agent "nobody" does not exist',
    );
    await expect(createHandler(CONFIG, { path: "a2a/" })).rejects.toThrow('Use one such as "/a2a"');
  });
});
