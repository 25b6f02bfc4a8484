import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { remote } from "../../src/runtime/remote/index.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { appV1, appV03, COUNT, type Official, startOfficial } from "../support/official.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, partsText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

/** Agents of servers of the official SDK, served as agents of this server. */
describe.each([
  ["1.3.0 with v1", appV1],
  ["0.3.14 with v0.3", appV03],
] as const)("the official server %s", (_name, createApp) => {
  let official: Official;
  let proxy: TestProxy;
  let here: TestServer;

  beforeEach(async () => {
    proxy = await startProxy();
    official = await startOfficial(createApp, proxy.url);
    proxy.target = official.url;
    here = await serve([remote({ name: "gate", card: proxy.url })]);
  });
  afterEach(async () => {
    await here.stop();
    official.close();
    await proxy.close();
  });

  const send = async (text: string, message: object = {}): Promise<object> =>
    (await rpc(here.url, "SendMessage", sendParams(text, message))).body;
  const messageText = (body: object): string => partsText(taskOf(body).status.message?.parts);

  it("has its card served with our URL", async () => {
    const card = (await (await fetch(`${here.url}/.well-known/agent-card.json`)).json()) as {
      skills: object;
    };
    expect(card).toMatchObject({ name: "gate", description: "Does what it is told", version: "1.2.3" });
    expect(card.skills).toMatchObject([{ id: "s", name: "Obey", examples: ["report"] }]);
    expect(JSON.stringify(card)).not.toContain(proxy.url);
  });

  it("streams, with data and files", async () => {
    const stream = await openStream(here.url, "SendStreamingMessage", sendParams("report"));
    const events = await stream.all();
    expect(events.map(summaryOf).some(summary => summary.text === "thinking")).toBe(true);
    const { body } = await rpc(here.url, "GetTask", { id: events[0]?.data.result.task.id });
    expect(taskOf(body).artifacts.map((one: { parts: object[] }) => one.parts)).toEqual([
      [{ text: "You said: report" }],
      [{ data: { total: 3 } }],
      [{ raw: "YTtiCjE7Mgo=", filename: "table.csv", mediaType: "text/csv" }],
    ]);
  });

  it("asks, and is answered in the same task", async () => {
    const asked = await send("ask");
    expect([stateOf(asked), messageText(asked)]).toEqual(["input-required", "For how many?"]);
    const body = await send("four", { taskId: taskOf(asked).id });
    expect([stateOf(body), textOf(body)]).toEqual(["completed", "You said: four"]);
  });

  it("fails with its own message, and replies with a bare message", async () => {
    const failed = await send("fail");
    expect([stateOf(failed), messageText(failed)]).toEqual(["failed", "It did not work"]);
    const { result } = (await send("reply")) as { result: { message: { parts: unknown } } };
    expect(result.message.parts).toEqual([{ text: "just a message" }]);
  });

  it("receives a cancel", async () => {
    const atOnce = { configuration: { returnImmediately: true } };
    const { body } = await rpc(here.url, "SendMessage", { ...sendParams("slow"), ...atOnce });
    const { id } = taskOf(body);
    const progress = async () => JSON.stringify((await rpc(here.url, "GetTask", { id })).body);
    await until(async () => (await progress()).includes("thinking"));
    const canceled = await rpc(here.url, "CancelTask", { id });
    expect(stateOf(canceled.body)).toBe("canceled");
    await until(() => proxy.calls.some(one => /CancelTask|tasks\/cancel/.test(one.body)));
  });

  it("is read to its end although its stream breaks, without repetitions", async () => {
    const stream = await openStream(here.url, "SendStreamingMessage", sendParams("count"));
    const events = [];
    for (let event = await stream.next(); event; event = await stream.next()) {
      events.push(event);
      if (events.length === 8) proxy.cut();
    }
    const whole = Array.from({ length: COUNT }, (_, i) => `${i} `).join("");
    expect(foldText(events)).toBe(whole);
    expect(summaryOf(events.at(-1) as (typeof events)[0]).what).toBe("status completed");
  });
});
