import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lgAgents } from "../support/lg-agents.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer } from "../support/server.ts";

/** `webhook` of a run: one signed delivery at its end, retried until it is accepted. */

let server: TestServer;
let receiver: Receiver;
let client: Client;
beforeAll(async () => {
  receiver = await openReceiver();
  server = await serve(lgAgents());
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
beforeEach(() => {
  receiver.all.length = 0;
  receiver.answer = () => ({ status: 204 });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const input = { trail: ["in"] };
const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

describe("the webhook of a run", () => {
  it("gets the run and its values once, signed", async () => {
    const thread = await newThread();
    const webhook = `${receiver.url}/done`;
    const run = await client.runs.create(thread, "steps", { input, webhook, metadata: { m: 1 } });
    const [one] = await receiver.got(1);
    expect(one?.body).toMatchObject({
      run_id: run.run_id,
      thread_id: thread,
      assistant_id: run.assistant_id,
      status: "success",
      values: { trail: ["in", "one", "two"] },
      metadata: { m: 1, graph_id: "steps" },
      kwargs: { webhook },
    });
    for (const name of ["run_started_at", "run_ended_at", "webhook_sent_at"])
      expect(Date.parse(one?.body[name])).toBeGreaterThan(0);
    expect(one?.headers["webhook-id"]).toBeTypeOf("string");
    expect(JSON.stringify(one?.headers)).toContain("..");
    await client.runs.wait(thread, "steps", { input });
    expect(receiver.all).toHaveLength(1);
  });

  it("is retried with the same id, and has the values of its own run", async () => {
    const thread = await newThread();
    receiver.answer = (_, nth) => ({ status: nth < 3 ? 503 : 204 });
    await client.runs.wait(thread, "steps", { input, webhook: receiver.url });
    await client.runs.wait(thread, "steps", { input: { trail: ["later"] } });
    const all = await receiver.got(3);
    expect(new Set(all.map(one => one.id)).size).toBe(1);
    expect(all.at(-1)?.body.values).toEqual({ trail: ["in", "one", "two"] });
  });

  it("tells an interrupt, and each run of a thread has its own", async () => {
    const thread = await newThread();
    const ask = { messages: [{ role: "human", content: "do it" }] };
    await client.runs.wait(thread, "approval", { input: ask, webhook: `${receiver.url}/first` });
    expect((await receiver.got(1))[0]?.path).toBe("/first");
    await client.runs.wait(thread, "approval", {
      command: { resume: "yes" },
      webhook: `${receiver.url}/second`,
    });
    const [, second] = await receiver.got(2);
    expect([second?.path, second?.body.status]).toEqual(["/second", "success"]);
    expect(JSON.stringify(second?.body.values)).toContain("The answer is");
  });

  it("tells failures without their cause, cancels, and runs without a thread", async () => {
    await client.runs.wait(null, "broken", { input, webhook: receiver.url, raiseError: false } as never);
    const [failed] = await receiver.got(1);
    expect(failed?.body).toMatchObject({
      status: "error",
      error: expect.stringContaining("The agent failed"),
    });
    expect(failed?.text).not.toContain("secret");
    const thread = await newThread();
    const run = await client.runs.create(thread, "slow", { input, webhook: receiver.url });
    await client.runs.cancel(thread, run.run_id, true);
    expect((await receiver.got(2))[1]?.body.status).toBe("interrupted");
    await client.runs.wait(null, "echo", {
      input: { messages: [{ role: "human", content: "hi" }] },
      webhook: receiver.url,
    });
    expect((await receiver.got(3))[2]?.body.values.messages.at(-1).content).toBe("You said hi");
  });

  it.each([
    ["nonsense", "must be a URL"],
    ["ftp://a.example/", "webhook"],
    ["http://169.254.169.254/", "webhook"],
  ])("%s is refused before anything runs", async (webhook, reason) => {
    const thread = await newThread();
    await expect(client.runs.create(thread, "steps", { input, webhook })).rejects.toThrow(
      new RegExp(`422.*${reason}`, "s"),
    );
    expect(await client.runs.list(thread)).toEqual([]);
    await expect(client.crons.create("steps", { schedule: "@daily", webhook })).rejects.toThrow("422");
  });
});

describe("rules of langgraph.json", () => {
  it("limit hosts and ports, and add headers", async () => {
    const port = Number(new URL(receiver.url).port);
    const webhooks = {
      headers: { "X-Key": "k" },
      allowedDomains: ["127.0.0.1", "*.example.com"],
      allowedPorts: [port, 443],
      requiresHttps: false,
      isLoopbackOff: true,
      urlCharsMax: 100,
    };
    const langgraphFile = { ...FILE, webhooks };
    const ruled = await serve(lgAgents(), { langgraphFile: langgraphFile as never });
    const caller = new Client({ apiUrl: ruled.url, callerOptions: { maxRetries: 0 } });
    const create = (webhook: string) => caller.runs.create(null, "steps", { input, webhook });
    await create(receiver.url);
    expect((await receiver.got(1))[0]?.headers["x-key"]).toBe("k");
    for (const webhook of [
      "https://example.com/",
      "https://a.example.com:8443/",
      "/own",
      `https://a.example.com/${"x".repeat(100)}`,
    ])
      await expect(create(webhook), webhook).rejects.toThrow("422");
    await ruled.stop();
  });
});

/** A langgraph.json that says nothing. */
const FILE = {
  names: {},
  off: [],
  auth: undefined,
  app: undefined,
  isAppGuarded: false,
  mountPrefix: undefined,
  cors: undefined,
  configurableHeaders: undefined,
  threadTtl: undefined,
};
