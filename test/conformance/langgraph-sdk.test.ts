import { Client, type Message } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lgAgents } from "../support/lg-agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The official client of LangGraph's Agent Server, unmodified, against this server. */

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await serve(lgAgents());
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
afterAll(() => server.stop());

const human = (content: string) => ({ messages: [{ role: "human", content }] });
const textsOf = (values: unknown): unknown[] =>
  ((values as { messages: Message[] }).messages ?? []).map(one => one.content);
const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
};

describe("assistants", () => {
  it("one for each agent, with the id of the original, found by name and id", async () => {
    const found = await client.assistants.search({ metadata: { created_by: "system" }, limit: 100 });
    expect(found.map(one => one.graph_id).toSorted()).toEqual(
      lgAgents()
        .map(one => one.name)
        .toSorted(),
    );
    const chat = await client.assistants.get("chat");
    expect(await client.assistants.get(chat.assistant_id)).toEqual(chat);
    expect(await client.assistants.count({ graphId: "chat" })).toBe(1);
  });

  it("graphs have schemas and a drawing, other agents have those of messages", async () => {
    const { nodes } = await client.assistants.getGraph("steps");
    expect(nodes.map(node => node.id)).toEqual(["__start__", "one", "two", "__end__"]);
    const schemas = await client.assistants.getSchemas("chat");
    expect(schemas.input_schema?.properties).toHaveProperty("messages");
    expect((await client.assistants.getSchemas("echo")).state_schema?.properties).toHaveProperty("messages");
    expect(await client.assistants.getSubgraphs("steps")).toEqual({});
  });

  it("are created, changed in versions, and deleted", async () => {
    const made = await client.assistants.create({ graphId: "steps", name: "mine", metadata: { a: 1 } });
    const changed = await client.assistants.update(made.assistant_id, { metadata: { b: 2 }, name: "other" });
    expect(changed).toMatchObject({ version: 2, name: "other", metadata: { a: 1, b: 2 } });
    const versions = await client.assistants.getVersions(made.assistant_id);
    expect(versions.map(one => one.version)).toEqual([2, 1]);
    expect((await client.assistants.setLatest(made.assistant_id, 1)).name).toBe("mine");
    expect(await client.assistants.search({ name: "MIN" })).toHaveLength(1);
    await client.assistants.delete(made.assistant_id);
    await expect(client.assistants.get(made.assistant_id)).rejects.toThrow("404");
  });
});

describe("threads", () => {
  it("are created, found, changed and deleted", async () => {
    const made = await client.threads.create({ metadata: { topic: "x" } });
    expect(made).toMatchObject({ status: "idle", metadata: { topic: "x" } });
    await expect(client.threads.create({ threadId: made.thread_id })).rejects.toThrow("409");
    const again = await client.threads.create({ threadId: made.thread_id, ifExists: "do_nothing" });
    expect(again.thread_id).toBe(made.thread_id);
    expect((await client.threads.update(made.thread_id, { metadata: { more: 1 } }))?.metadata).toEqual({
      topic: "x",
      more: 1,
    });
    const found = await client.threads.search({ metadata: { topic: "x" } });
    expect(found.map(one => one.thread_id)).toEqual([made.thread_id]);
    expect(await client.threads.count({ metadata: { topic: "x" } })).toBe(1);
    expect((await client.threads.getState(made.thread_id)).next).toEqual([]);
    await client.threads.delete(made.thread_id);
    await expect(client.threads.get(made.thread_id)).rejects.toThrow("404");
  });

  it("state is set as a node, read at a checkpoint, and forked", async () => {
    const { thread_id } = await client.threads.create({ graphId: "steps" });
    await client.runs.wait(thread_id, "steps", { input: { trail: ["in"] } });
    const history = await client.threads.getHistory(thread_id);
    expect(history.map(one => one.next)).toEqual([[], ["two"], ["one"], ["__start__"]]);
    const before = history[1];
    expect(
      await client.threads.getState(thread_id, before?.checkpoint.checkpoint_id as string),
    ).toMatchObject({ next: ["two"] });
    const { configurable } = await client.threads.updateState(thread_id, {
      values: { trail: ["set"] },
      asNode: "one",
      checkpoint: before?.checkpoint as never,
    });
    const forked = await client.runs.wait(thread_id, "steps", {
      input: null,
      checkpointId: configurable?.checkpoint_id as string,
    });
    expect(forked).toEqual({ trail: ["in", "one", "set", "two"] });
    const copy = await client.threads.copy(thread_id);
    expect(
      (await client.threads.getState((copy as unknown as { thread_id: string }).thread_id)).values,
    ).toEqual(forked);
  });
});

describe("runs", () => {
  it("stream tokens, values and updates, and end with the state", async () => {
    const { thread_id } = await client.threads.create();
    const events = await collect(
      client.runs.stream(thread_id, "chat", {
        input: human("hi"),
        streamMode: ["values", "messages-tuple", "updates"],
      }),
    );
    expect(events[0]).toMatchObject({ event: "metadata", data: { attempt: 1 } });
    const tokens = events
      .filter(one => one.event === "messages")
      .map(one => (one.data as unknown as [Message])[0].content);
    expect(tokens.join("")).toBe("You said hi");
    expect(tokens.length).toBeGreaterThan(3);
    expect(events.find(one => one.event === "updates")?.data).toHaveProperty("model");
    expect(textsOf(events.findLast(one => one.event === "values")?.data)).toEqual(["hi", "You said hi"]);
    const thread = await client.threads.get(thread_id);
    expect(thread).toMatchObject({ status: "idle", metadata: { graph_id: "chat" } });
    expect(textsOf(thread.values)).toEqual(["hi", "You said hi"]);
  });

  it("the old mode messages sends the message so far", async () => {
    const { thread_id } = await client.threads.create();
    const events = await collect(
      client.runs.stream(thread_id, "chat", { input: human("hi"), streamMode: "messages" }),
    );
    const partial = events.filter(one => (one.event as string) === "messages/partial");
    expect(partial.at(-1)?.data).toMatchObject([{ content: "You said hi" }]);
    expect(events.map(one => one.event as string)).toContain("messages/complete");
  });

  it("every stream mode has its events", async () => {
    const { thread_id } = await client.threads.create();
    const streamMode = ["values", "updates", "custom", "tasks", "checkpoints", "debug", "events"] as const;
    const events = await collect(
      client.runs.stream(thread_id, "steps", { input: { trail: [] }, streamMode: [...streamMode] }),
    );
    expect([...new Set(events.map(one => one.event))].toSorted()).toEqual(
      ["metadata", ...streamMode].toSorted(),
    );
    expect(events.find(one => one.event === "custom")?.data).toEqual({ progress: 1 });
  });

  it("interrupts are answered by a command, in a new run of the same task", async () => {
    const { thread_id } = await client.threads.create();
    const first = await collect(
      client.runs.stream(thread_id, "approval", { input: human("do it"), streamMode: ["values", "updates"] }),
    );
    expect(JSON.stringify(first)).toContain("__interrupt__");
    const thread = await client.threads.get(thread_id);
    expect(thread.status).toBe("interrupted");
    expect(Object.values(thread.interrupts ?? {})[0]?.[0]).toMatchObject({ value: { question: "Shall I?" } });
    const values = await client.runs.wait(thread_id, "approval", { command: { resume: "yes" } });
    expect(textsOf(values)).toEqual(["do it", 'The answer is "yes"']);
    expect((await client.runs.list(thread_id)).map(one => one.status)).toEqual(["success", "success"]);
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  it("break points of the run pause the graph", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "steps", { input: { trail: [] }, interruptBefore: ["two"] });
    expect((await client.threads.getState(thread_id)).next).toEqual(["two"]);
    expect(await client.runs.wait(thread_id, "steps", { input: null })).toEqual({ trail: ["one", "two"] });
  });

  it("are joined from the beginning, with the events of the first stream", async () => {
    const { thread_id } = await client.threads.create();
    let runId = "";
    const first = await collect(
      client.runs.stream(thread_id, "chat", {
        input: human("hi"),
        streamMode: ["values", "messages-tuple"],
        onRunCreated: run => void (runId = run.run_id),
      }),
    );
    const joined = await collect(client.runs.joinStream(thread_id, runId, { lastEventId: "-1" }));
    expect(joined).toEqual(first);
    const half = first[3] as { id?: string };
    expect(
      await collect(client.runs.joinStream(thread_id, runId, { lastEventId: half.id as string })),
    ).toEqual(first.slice(4));
    expect(textsOf(await client.runs.join(thread_id, runId))).toEqual(["hi", "You said hi"]);
  });

  it("are canceled, rejected, interrupted and enqueued", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "slow", { input: { trail: [] } });
    expect(["pending", "running"]).toContain(run.status);
    await expect(
      client.runs.create(thread_id, "slow", { input: { trail: [] }, multitaskStrategy: "reject" }),
    ).rejects.toThrow("409");
    const second = await client.runs.create(thread_id, "slow", {
      input: { trail: [] },
      multitaskStrategy: "interrupt",
    });
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe("interrupted");
    await client.runs.cancel(thread_id, second.run_id, true);
    expect((await client.runs.get(thread_id, second.run_id)).status).toBe("interrupted");
    expect((await client.threads.get(thread_id)).status).toBe("idle");
  });

  it("join returns the values of its own run, although later ones have ended", async () => {
    for (const [assistant, input] of [
      ["steps", { trail: [] }],
      ["echo", human("hi")],
    ] as const) {
      const { thread_id } = await client.threads.create();
      const runs = [];
      for (let i = 0; i < 3; i++) runs.push(await client.runs.create(thread_id, assistant, { input }));
      const join = ({ run_id }: { readonly run_id: string }) => client.runs.join(thread_id, run_id);
      const lengthOf = (values: object): number => (Object.values(values)[0] as unknown[]).length;
      await join(runs[2] as (typeof runs)[0]);
      expect((await Promise.all(runs.map(join))).map(lengthOf)).toEqual([2, 4, 6]);
    }
  });

  it("without a thread leave none behind", async () => {
    const before = await client.threads.count();
    expect(textsOf(await client.runs.wait(null, "chat", { input: human("once") }))).toEqual([
      "once",
      "You said once",
    ]);
    const events = await collect(client.runs.stream(null, "chat", { input: human("twice") }));
    expect(textsOf(events.at(-1)?.data)).toEqual(["twice", "You said twice"]);
    expect(await client.threads.count()).toBe(before);
  });

  it("a failed run ends with an error that does not tell the cause", async () => {
    const { thread_id } = await client.threads.create();
    const events = await collect(client.runs.stream(thread_id, "broken", { input: { trail: [] } }));
    expect(events.at(-1)).toMatchObject({ event: "error", data: { error: "AgentFailed" } });
    expect(JSON.stringify(events)).not.toContain("secret");
    expect((await client.threads.get(thread_id)).status).toBe("error");
  });

  it("begin later, with after_seconds", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "steps", { input: { trail: [] }, afterSeconds: 1 });
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe("pending");
    expect(await client.runs.join(thread_id, run.run_id)).toEqual({ trail: ["one", "two"] });
  });

  it("an unknown assistant, thread or run is 404, a wrong body 422", async () => {
    const { thread_id } = await client.threads.create();
    await expect(client.runs.wait(thread_id, "nothing", {})).rejects.toThrow("404");
    await expect(client.runs.wait(crypto.randomUUID(), "chat", { input: human("x") })).rejects.toThrow("404");
    await expect(client.runs.get(thread_id, crypto.randomUUID())).rejects.toThrow("404");
    await expect(
      client.runs.create(thread_id, "chat", { input: human("x"), streamMode: "wrong" as never }),
    ).rejects.toThrow("422");
  });
});

describe("agents that are no graphs", () => {
  it("stream messages, and have them as their state", async () => {
    const { thread_id } = await client.threads.create();
    const events = await collect(
      client.runs.stream(thread_id, "echo", {
        input: human("hi"),
        streamMode: ["values", "messages-tuple", "updates"],
      }),
    );
    expect(
      events
        .filter(one => one.event === "messages")
        .map(one => (one.data as unknown as [Message])[0].content),
    ).toEqual(["You ", "said hi"]);
    expect(textsOf(events.at(-1)?.data)).toEqual(["hi", "You said hi"]);
    await client.runs.wait(thread_id, "echo", { input: human("more") });
    expect(textsOf((await client.threads.getState(thread_id)).values)).toEqual([
      "hi",
      "You said hi",
      "more",
      "You said more",
    ]);
    expect(await client.threads.getHistory(thread_id)).toHaveLength(2);
  });

  it("questions are interrupts", async () => {
    const { thread_id } = await client.threads.create();
    const events = await collect(
      client.runs.stream(thread_id, "echo", { input: human("ask"), streamMode: ["updates"] }),
    );
    expect(events.at(-1)?.data).toMatchObject({ __interrupt__: [{ value: "Which one?" }] });
    expect((await client.threads.get(thread_id)).status).toBe("interrupted");
    const values = await client.runs.wait(thread_id, "echo", { command: { resume: "that" } });
    expect(textsOf(values).at(-1)).toBe("You said that");
  });
});
