import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { openStream, rpc, type SseEvent, until } from "../support/client.ts";
import { getTask } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/arbiter.md#requests, #cards: Arbiter's own interface beside A2A, and its cards. */

const puppet = createScriptedAgent();
let server: TestServer;
let strict: TestServer;
beforeAll(async () => {
  server = await serve([echo, puppet.definition]);
  strict = await serve([echo], { arbiter: "strict" });
});
afterAll(() => Promise.all([server.stop(), strict.stop()]));

const params = {
  message: { role: "user", messageId: "m-1", parts: [{ kind: "text", text: "hi" }] },
};

async function begun(): Promise<string> {
  const url = `${server.url}/v1/a2a/agents/puppet`;
  const opened = await openStream(url, "message/stream", params);
  const first = (await opened.next()) as SseEvent;
  opened.close();
  return first.data.result.taskId;
}

interface Told {
  readonly seq: number;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
  readonly data: any;
}

function open(id: string, since?: number): Promise<Response> {
  const query = since === undefined ? "" : `?since_seq=${since}`;
  return fetch(`${server.url}/v1/requests/${id}/events${query}`);
}

/** All events of a request after a sequence number. */
const events = async (id: string, since?: number): Promise<Told[]> => readAll(await open(id, since));

async function readAll(response: Response): Promise<Told[]> {
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const blocks = (await response.text()).split("\n\n").filter(block => block.includes("data: "));
  const field = (block: string, name: string): string | undefined =>
    new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  return blocks.map(block => ({
    seq: Number(field(block, "id")),
    event: field(block, "event"),
    data: JSON.parse(field(block, "data") as string),
  }));
}

describe("Arbiter: the events of a request", () => {
  it("A11: the events of a request are sent from its beginning to its end, while it runs and afterwards", async () => {
    const id = await begun();
    const live = events(id);
    puppet.send(id, ctx => ctx.text("one "));
    puppet.send(id, ctx => ctx.text("two"));
    puppet.end(id);
    const liveEvents = await live;
    expect(liveEvents.map(one => one.event)).toEqual([
      "request_received",
      "stream_start",
      "text",
      "text",
      "stream_end",
      "done",
    ]);
    expect(liveEvents.map(one => one.data.delta ?? "").join("")).toBe("one two");
    expect(liveEvents.at(-1)?.data).toMatchObject({ ok: true, content: "one two", request_id: id });
    expect(await events(id)).toEqual(liveEvents);
  });

  it("A11: since_seq continues after that event, and every event has its number, except for stream_end, which comes with done", async () => {
    const id = await begun();
    puppet.send(id, ctx => ctx.text("one "));
    puppet.end(id);
    const all = await events(id, 0);
    const numbered = all.filter(one => one.event !== "stream_end");
    for (const one of numbered.slice(0, -1))
      expect(await events(id, one.seq)).toEqual(all.slice(all.indexOf(one) + 1));
    // A since_seq at or beyond the last event gets the last event once more.
    for (const seq of [all.at(-1)?.seq as number, 999])
      expect((await events(id, seq)).map(one => one.event)).toEqual(["done"]);
  });

  it("A11: a since_seq beyond the last event gets the text so far in one event", async () => {
    const id = await begun();
    puppet.send(id, ctx => ctx.text("one "));
    puppet.send(id, ctx => ctx.text("two "));
    const url = `${server.url}/agents/puppet`;
    await until(async () => (await getTask(url, id)).artifacts?.[0].parts[0].text === "one two ");
    const late = await open(id, 999);
    puppet.send(id, ctx => ctx.text("three"));
    puppet.end(id);
    const texts = (await readAll(late)).flatMap(one => one.data.delta ?? []);
    expect(texts).toEqual(["one two ", "three"]);
  });

  it("A10: the events of a canceled request end with its cancellation", async () => {
    const id = await begun();
    const live = events(id);
    await fetch(`${server.url}/v1/requests/${id}/cancel`, { method: "POST" });
    expect((await live).at(-1)).toMatchObject({ event: "done", data: { ok: false, error: "canceled" } });
  });

  it("A11: an unknown request is 404, and an invalid since_seq is 400", async () => {
    const id = await begun();
    puppet.end(id);
    for (const [path, status] of [
      ["nope/events", 404],
      [`${id}/events?since_seq=-1`, 400],
      [`${id}/events?since_seq=${"9".repeat(400)}`, 400],
    ] as const) {
      const response = await fetch(`${server.url}/v1/requests/${path}`);
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({ error: expect.any(String) });
    }
  });

  it("A11: a task created in another dialect is a request, too", async () => {
    const { result } = (await rpc(server.url, "message/send", params)).body;
    expect((await events(result.id)).at(-1)?.data).toMatchObject({ ok: true, content: "hi" });
  });
});

describe("Arbiter: cards", () => {
  const card = async (url: string, headers = {}) => (await fetch(url, { headers })).json();

  it("A15: a card has the shape of v0.3 with version 1.0, and a skill to chat before its own", async () => {
    for (const name of ["index", "echo"]) {
      const found = await card(`${server.url}/v1/a2a/agents/${name}/agent-card.json`);
      expect(found).toMatchObject({
        protocolVersion: "1.0",
        name: "echo",
        url: `${server.url}/v1/a2a/agents/echo`,
        preferredTransport: "JSONRPC",
        defaultInputModes: ["text/plain"],
        capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
      });
      expect(found).toHaveProperty("skills.0.id", "chat");
    }
    const other = await card(`${strict.url}/v1/a2a/agents/echo/agent-card.json`);
    expect(other).toMatchObject({ capabilities: { pushNotifications: false } });
    expect((await fetch(`${server.url}/v1/a2a/agents/nobody/agent-card.json`)).status).toBe(404);
  });

  it("A15: with the strict profile the well-known card has one skill, which lists the other agents", async () => {
    const known = "/.well-known/agent-card.json";
    expect(await card(strict.url + known)).toMatchObject({
      name: "arbiter",
      url: `${strict.url}/v1/a2a`,
      skills: [{ id: "discover" }],
    });
    expect(await card(strict.url + known, { "a2a-version": "1.0" })).toMatchObject({ name: "echo" });
    expect(await card(server.url + known)).toMatchObject({ name: "echo" });
  });
});
