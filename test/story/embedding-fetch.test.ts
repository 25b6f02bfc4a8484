import { agent, createHandler, type MountedServer } from "dragoman";
import { afterEach, describe, expect, it } from "vitest";
import { openStream, rpc, sendParams, toStream } from "../support/client.ts";
import { aborted } from "../support/gate.ts";
import { onNode } from "../support/hosts.ts";
import { createTestLog } from "../support/server.ts";

const echo = agent({
  name: "echo",
  async *run(task, ctx) {
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
const silent = agent({ name: "silent", run: (_task, ctx) => aborted(ctx.signal) });
/** Sends more than the buffers between a reader and a writer hold. */
const flood = agent({
  name: "flood",
  replies: "task",
  async *run(_task, ctx) {
    for (let i = 0; i < 400; i++) yield ctx.text("words ".repeat(1_000));
  },
});

const BASE = "http://agents.example";
const CONFIG = { agents: [echo, slow, silent, flood], data: ":memory:", drainMs: 100, cancelGraceMs: 100 };

let mounted: MountedServer;
afterEach(() => mounted.close());

async function create(config: object = {}): Promise<MountedServer["fetch"]> {
  mounted = await createHandler({ ...CONFIG, ...config }, { log: createTestLog() });
  return mounted.fetch;
}

const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };
const post = (path: string, body: string | ReadableStream, more: object = {}): Request =>
  new Request(BASE + path, { method: "POST", headers: HEADERS, body, ...more });
const send = (agent: string, verb: string, more: object = {}): Request =>
  post(`/agents/${agent}/message:${verb}`, JSON.stringify(sendParams("hello")), more);

describe("fetch of a handler", () => {
  it("answers as over a socket, byte for byte", async () => {
    const fetchMounted = await create();
    const host = await onNode(mounted);
    for (const [path, init] of [
      ["/agents", {}],
      ["/agents", { method: "HEAD" }],
      ["/agents", { method: "DELETE" }],
      ["/agents", { method: "OPTIONS" }],
      ["/nothing/at/all/here", {}],
      ["/docs", {}],
      ["/", { method: "POST", headers: HEADERS, body: "{" }],
      [
        "/",
        {
          method: "POST",
          headers: HEADERS,
          body: '{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}',
        },
      ],
      ["/tasks/nope?historyLength=1", { headers: HEADERS }],
    ] as const) {
      const [here, there] = [
        await fetchMounted(new Request(host.url + path, init)),
        await fetch(host.url + path, init),
      ];
      expect(here.status).toBe(there.status);
      expect(await here.text()).toBe(await there.text());
      const { connection, date, "keep-alive": _, ...headers } = Object.fromEntries(there.headers);
      expect(Object.fromEntries(here.headers)).toEqual(headers);
    }
    await host.close();
  });

  it("takes its base URL from the request, and supports conditional requests", async () => {
    const fetchMounted = await create();
    const card = await fetchMounted(new Request("https://agents.example:8443/.well-known/agent-card.json"));
    expect(await card.json()).toMatchObject({ url: "https://agents.example:8443/agents/echo" });
    const headers = { "If-None-Match": card.headers.get("etag") as string };
    const again = await fetchMounted(
      new Request("https://agents.example:8443/.well-known/agent-card.json", { headers }),
    );
    expect([again.status, again.body]).toEqual([304, null]);
  });

  it("streams, event by event", async () => {
    const fetchMounted = await create();
    const response = await fetchMounted(send("echo", "stream"));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await toStream(response, new AbortController()).all();
    expect(events.map(one => Object.keys(one.data)[0])).toEqual([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
  });

  it("accepts a body in chunks; one that is too large is 413, and its sender is canceled", async () => {
    const fetchMounted = await create({ bodyBytesMax: 1_024 });
    const text = JSON.stringify(sendParams("in pieces"));
    const pieces = ReadableStream.from([text.slice(0, 10), text.slice(10)].map(one => Buffer.from(one)));
    const whole = await fetchMounted(post("/message:send", pieces, { duplex: "half" }));
    expect(await whole.json()).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });

    let canceled = false;
    const endless = new ReadableStream({
      pull: controller => controller.enqueue(new Uint8Array(1_000_000)),
      cancel: () => void (canceled = true),
    });
    const refused = await fetchMounted(post("/message:send", endless, { duplex: "half" }));
    expect(refused.status).toBe(413);
    await expect.poll(() => canceled).toBe(true);
  });

  it("a truncated body is refused, and one that was already read is an error of the host", async () => {
    const fetchMounted = await create();
    const broken = new ReadableStream({ start: controller => controller.error(new Error("gone")) });
    expect((await fetchMounted(post("/message:send", broken, { duplex: "half" }))).status).toBe(400);
    const used = send("echo", "send");
    await used.text();
    await expect(fetchMounted(used)).rejects.toThrow("has already been read");
  });

  it("a reader that cancels, or aborts, ends its stream and not the run", async () => {
    const fetchMounted = await create({ streamsMax: 1 });
    const host = await onNode(mounted);
    const canGoOn = async (): Promise<boolean> => {
      const stream = await openStream(`${host.url}/agents/slow`, "SendStreamingMessage", sendParams("room?"));
      stream.close();
      return stream.headers.get("content-type") === "text/event-stream";
    };
    const first = (await fetchMounted(send("slow", "stream"))).body?.getReader();
    expect((await first?.read())?.value).toBeInstanceOf(Uint8Array);
    expect(await canGoOn()).toBe(false);
    await first?.cancel();
    await expect.poll(canGoOn).toBe(true);

    const controller = new AbortController();
    await expect
      .poll(async () => (await fetchMounted(send("slow", "stream", { signal: controller.signal }))).status)
      .toBe(200);
    controller.abort();
    await expect.poll(canGoOn).toBe(true);
    const states = async (): Promise<string[]> => {
      const { body } = await rpc(`${host.url}/agents/slow`, "ListTasks", {});
      const all = body.result.tasks.map((task: { status: { state: string } }) => task.status.state);
      return [...new Set<string>(all)];
    };
    await expect.poll(states).toEqual(["TASK_STATE_WORKING"]);
    await host.close();
  });

  it("an abort before the response rejects the call, and a request that is already aborted does nothing", async () => {
    const fetchMounted = await create();
    const controller = new AbortController();
    const waiting = fetchMounted(send("silent", "send", { signal: controller.signal }));
    setImmediate(() => controller.abort());
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    const late = fetchMounted(send("silent", "send", { signal: AbortSignal.abort() }));
    await expect(late).rejects.toMatchObject({ name: "AbortError" });
  });

  it("does not run ahead of its reader, and disconnects one that does not read at all", async () => {
    const fetchMounted = await create({ heartbeatMs: 100, streamsMax: 1 });
    const reader = (await fetchMounted(send("flood", "stream"))).body?.getReader();
    await reader?.read();
    // Buffered events are lost, but can be requested again.
    await expect.poll(async () => (await fetchMounted(send("slow", "stream"))).status).toBe(200);
    let bytes = 0;
    const reading = async (): Promise<void> => {
      for (;;) bytes += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY;
    };
    await expect(reading()).rejects.toThrow();
    expect(bytes).toBeLessThan(1_000_000);
  });

  it("is read at the pace of its reader to the end, without a gap", async () => {
    const fetchMounted = await create();
    const response = await fetchMounted(send("flood", "stream"));
    let words = 0;
    for await (const event of toStream(response, new AbortController())) {
      words += event.data.artifactUpdate?.artifact.parts[0].text.match(/words/g)?.length ?? 0;
      if (words % 50_000 === 0) await new Promise(resolve => setTimeout(resolve, 5));
    }
    expect(words).toBe(400_000);
  });
});
