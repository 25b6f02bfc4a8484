import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ConnectedAgent,
  connect,
  questionsOf,
  replyText,
  type TaskUpdate,
  textOf,
} from "../../src/client/index.ts";
import { appV1, appV02, appV03, COUNT, type Official, startOfficial } from "../support/official.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

/** `dragoman/client` and the servers of the official SDKs. */
describe.each([
  ["1.3.0", "JSONRPC", "A2A 1.0", appV1],
  ["1.3.0", "HTTP+JSON", "A2A 1.0", appV1],
  ["0.3.14", "JSONRPC", "A2A 0.3", appV03],
  ["0.3.14", "HTTP+JSON", "A2A 0.3", appV03],
  ["0.2.5", "JSONRPC", "A2A 0.2", appV02],
] as const)("the official server %s over %s", (_version, transport, protocol, createApp) => {
  let official: Official;
  let proxy: TestProxy;
  let agent: ConnectedAgent;

  beforeEach(async () => {
    proxy = await startProxy();
    official = await startOfficial(url => createApp(url, transport), proxy.url);
    proxy.target = official.url;
    agent = await connect(proxy.url, { retryDelaysMs: [5, 5, 5] });
  });
  afterEach(async () => {
    agent.close();
    official.close();
    await proxy.close();
  });

  const collect = async (updates: AsyncIterable<TaskUpdate>): Promise<readonly TaskUpdate[]> => {
    const all: TaskUpdate[] = [];
    for await (const update of updates) all.push(update);
    return all;
  };
  const textIn = (updates: readonly TaskUpdate[]): string =>
    updates.map(one => (one.kind === "artifact" ? textOf(one.artifact.parts) : "")).join("");

  it("is found by its card, and streams text, data and files", async () => {
    // 0.3.14 drops the names of files on HTTP+JSON.
    const isNamed = protocol !== "A2A 0.3" || transport === "JSONRPC";
    const filename = isNamed && { filename: "table.csv" };
    expect(agent.name).toBe("official");
    expect(agent.endpoint).toMatchObject({ protocol, transport });
    const all = await collect(agent.stream("report"));
    expect(textIn(all)).toBe("You said: report");
    const { task } = all.at(-1) as TaskUpdate;
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([
      [{ kind: "text", text: "You said: report" }],
      [{ kind: "data", data: { total: 3 } }],
      [{ kind: "bytes", bytes: "YTtiCjE7Mgo=", mediaType: "text/csv", ...filename }],
    ]);
    expect((await agent.task(task.id).get()).state).toBe("completed");
  });

  it("asks, is answered, fails, and replies with a bare message", async () => {
    const asked = await agent.send("ask");
    expect(questionsOf(asked)).toEqual([{ id: "", question: "For how many?" }]);
    const answered = await agent.task(asked.id).answer("four");
    expect([answered.state, replyText(answered)]).toEqual(["completed", "You said: four"]);
    const failed = await agent.send("fail");
    expect([failed.state, replyText(failed)]).toEqual(["failed", "It did not work"]);
    expect(await agent.send("reply")).toMatchObject({ id: "", message: { messageId: expect.any(String) } });
  });

  it("is read to its end although its connection breaks twice, without repetitions", async () => {
    const all: TaskUpdate[] = [];
    for await (const update of agent.stream("count")) {
      all.push(update);
      if (all.length === 8 || all.length === 20) proxy.cut();
    }
    const whole = Array.from({ length: COUNT }, (_, i) => `${i} `).join("");
    expect(textIn(all)).toBe(whole);
    expect(all.at(-1)?.task.state).toBe("completed");
  });

  it("is followed from another connection, and canceled", async () => {
    const stream = agent.stream("slow");
    const { task } = (await stream.next()).value as TaskUpdate;
    const other = await connect(proxy.url);
    const tail = other.task(task.id).tail();
    const following = collect(tail);
    // 0.2.5 answers before the task has ended.
    expect(["canceled", "working"]).toContain((await other.task(task.id).cancel()).state);
    expect((await following).at(-1)?.task.state).toBe("canceled");
    await stream.return();
    other.close();
  });

  it("gets files, keeps webhooks, and lists tasks where its protocol can", async () => {
    const file = new File(["a;b"], "table.csv", { type: "text/csv" });
    const sent = await agent.send(["hi", file, { data: { n: 1 } }]);
    expect(sent.state).toBe("completed");
    const [message] = (await agent.task(sent.id).get()).history;
    // The servers before 1.0 return no history.
    if (protocol === "A2A 1.0")
      expect(message?.parts.slice(1)).toEqual([
        { kind: "bytes", bytes: "YTti", filename: "table.csv", mediaType: "text/csv" },
        { kind: "data", data: { n: 1 } },
      ]);
    const { push } = agent.task(sent.id);
    const set = await push.set({ id: "w1", url: "https://hooks.example/1", token: "t" });
    expect(set.url).toBe("https://hooks.example/1");
    // 0.2.5 has one webhook for each task, and neither a list nor a delete.
    if (protocol !== "A2A 0.2") {
      expect((await push.list()).map(({ id }) => id)).toEqual(["w1"]);
      expect(await push.get("w1")).toMatchObject({ url: "https://hooks.example/1" });
      await push.delete("w1");
      expect(await push.list()).toEqual([]);
    }
    const listed = agent.list({ contextId: sent.contextId });
    if (protocol === "A2A 1.0") expect((await listed).tasks.map(({ id }) => id)).toEqual([sent.id]);
    else await expect(listed).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("is followed to its end by a tail that waits for the answer of another client", async () => {
    const asked = await agent.send("ask");
    const states: string[] = [];
    for await (const { task } of agent.task(asked.id).tail({ until: "terminal" })) {
      if (states.push(task.state) > 1) continue;
      const other = await connect(proxy.url);
      await other.task(asked.id).answer("four");
      other.close();
    }
    expect([states[0], states.at(-1)]).toEqual(["input-required", "completed"]);
  });

  it("names its faults", async () => {
    await expect(agent.task("nope").get()).rejects.toMatchObject({ code: "task-not-found" });
    const { id } = await agent.send("hi");
    await expect(agent.task(id).cancel()).rejects.toMatchObject({ code: "task-not-cancelable" });
  });
});
