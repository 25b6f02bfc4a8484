import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/client.ts";
import { lgAgents } from "../support/lg-agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** What ends, deletes and outlives runs and threads, with the official client. */

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await serve(lgAgents());
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
afterAll(() => server.stop());

const input = { trail: ["in"] };
const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
const statusOf = async (thread: string, run: string): Promise<string> =>
  (await client.runs.get(thread, run)).status;
const start = async (thread: string): Promise<string> => {
  const { run_id } = await client.runs.create(thread, "slow", { input });
  await until(async () => (await statusOf(thread, run_id)) === "running");
  return run_id;
};

describe("rollback", () => {
  it("deletes the canceled run and its checkpoints, and nothing of earlier runs", async () => {
    const thread = await newThread();
    await client.runs.wait(thread, "slow", { input: { trail: ["before"] }, interruptBefore: ["wait"] });
    const before = await client.threads.getHistory(thread);
    const run = await start(thread);
    // A run has the status before it has stored a checkpoint.
    await until(async () => (await client.threads.getHistory(thread)).length > before.length);
    await client.runs.cancel(thread, run, true, "rollback");
    expect(await client.threads.getHistory(thread)).toEqual(before);
    await expect(client.runs.get(thread, run)).rejects.toThrow("404");
    expect(await client.runs.list(thread)).toHaveLength(1);
  });

  it("of the only run leaves an empty thread", async () => {
    const thread = await newThread();
    const run = await start(thread);
    await client.runs.cancel(thread, run, true, "rollback");
    expect(await client.threads.getState(thread)).toMatchObject({ values: {}, next: [] });
    expect(await client.runs.list(thread)).toEqual([]);
  });

  it("is a strategy for a thread that is busy", async () => {
    const thread = await newThread();
    const first = await start(thread);
    const values = await client.runs.wait(thread, "steps", { input, multitaskStrategy: "rollback" });
    expect(values).toEqual({ trail: ["in", "one", "two"] });
    await expect(client.runs.get(thread, first)).rejects.toThrow("404");
  });
});

describe("deletion", () => {
  it("of a run keeps the state of its thread", async () => {
    const thread = await newThread();
    await client.runs.wait(thread, "steps", { input });
    const [run] = await client.runs.list(thread);
    await client.runs.delete(thread, run?.run_id as string);
    expect(await client.runs.list(thread)).toEqual([]);
    expect((await client.threads.getState(thread)).values).toEqual({ trail: ["in", "one", "two"] });
    expect(await client.runs.wait(thread, "steps", { input: { trail: [] } })).toEqual({
      trail: ["in", "one", "two", "one", "two"],
    });
  });

  it("prune deletes threads, or all their checkpoints but the newest", async () => {
    const threads = [await newThread(), await newThread()];
    for (const thread of threads) await client.runs.wait(thread, "steps", { input });
    const [kept, deleted] = threads as [string, string];
    const { values } = await client.threads.getState(kept);
    expect(await client.threads.prune([kept], { strategy: "keep_latest" })).toEqual({ pruned_count: 1 });
    expect(await client.threads.getHistory(kept)).toHaveLength(1);
    expect((await client.threads.getState(kept)).values).toEqual(values);
    expect(await client.threads.prune([deleted, crypto.randomUUID()])).toEqual({ pruned_count: 1 });
    await expect(client.threads.get(deleted)).rejects.toThrow("404");
  });

  it("of an assistant deletes its threads, if asked to", async () => {
    const { assistant_id } = await client.assistants.create({ graphId: "steps" });
    const [own, other] = [await newThread(), await newThread()];
    await client.runs.wait(own, assistant_id, { input });
    await client.runs.wait(other, "steps", { input });
    await client.assistants.delete(assistant_id, { deleteThreads: true });
    await expect(client.threads.get(own)).rejects.toThrow("404");
    expect((await client.threads.get(other)).status).toBe("idle");
  });
});

describe("many runs", () => {
  it("a batch begins runs without threads", async () => {
    const made = await client.runs.createBatch([
      { assistantId: "steps", input },
      { assistantId: "steps", input: { trail: ["other"] } },
    ]);
    expect(made).toHaveLength(2);
    const results = await Promise.all(made.map(run => client.runs.join(run.thread_id, run.run_id)));
    expect(results).toEqual([{ trail: ["in", "one", "two"] }, { trail: ["other", "one", "two"] }]);
    await expect(client.runs.createBatch([{ assistantId: "steps" }, { assistantId: "no" }])).rejects.toThrow(
      "404",
    );
  });

  it("are canceled by their ids, or all that have not ended", async () => {
    const [one, two] = [await newThread(), await newThread()];
    const runs = [await start(one), await start(two)] as const;
    await client.runs.cancelMany({ threadId: one, runIds: [runs[0]] });
    expect([await statusOf(one, runs[0]), await statusOf(two, runs[1])]).toEqual(["interrupted", "running"]);
    await client.runs.cancelMany({ status: "all" });
    expect(await statusOf(two, runs[1])).toBe("interrupted");
    await expect(client.runs.cancelMany({ threadId: one })).rejects.toThrow("422");
    await expect(client.runs.cancelMany({})).rejects.toThrow("422");
  });
});

describe("on_disconnect", () => {
  it.each(["stream", "wait"] as const)("cancel ends a run when its %s is closed", async kind => {
    const thread = await newThread();
    const stop = new AbortController();
    const options = { input, onDisconnect: "cancel", signal: stop.signal } as const;
    const call =
      kind === "wait"
        ? client.runs.wait(thread, "slow", options)
        : Array.fromAsync(client.runs.stream(thread, "slow", options));
    const ended = call.catch(() => "aborted");
    await until(async () => (await client.runs.list(thread))[0]?.status === "running");
    stop.abort();
    await ended;
    await until(async () => (await client.runs.list(thread))[0]?.status === "interrupted");
  });

  it("continue is the default", async () => {
    const thread = await newThread();
    const stop = new AbortController();
    const call = Array.fromAsync(client.runs.stream(thread, "slow", { input, signal: stop.signal }));
    await until(async () => (await client.runs.list(thread))[0]?.status === "running");
    stop.abort();
    await call.catch(() => undefined);
    const [run] = await client.runs.list(thread);
    expect(run?.status).toBe("running");
    await client.runs.cancel(thread, run?.run_id as string, true);
  });
});

describe("the stream of a thread", () => {
  it("has the events of all its runs, of those that come, and updates of its state", async () => {
    const thread = await newThread();
    const stop = new AbortController();
    const all: { readonly id?: string; readonly event: string; readonly data: unknown }[] = [];
    await client.runs.wait(thread, "steps", { input, streamMode: ["updates"] as never });
    const reading = (async () => {
      const options = { lastEventId: "-", signal: stop.signal, streamMode: ["run_modes", "state_update"] };
      for await (const event of client.threads.joinStream(thread, options as never)) all.push(event as never);
    })().catch(() => undefined);
    const doneCount = (): number => all.filter(one => JSON.stringify(one).includes("run_done")).length;
    await until(() => doneCount() === 1);
    await client.runs.wait(thread, "steps", { input });
    await until(() => doneCount() === 2);
    await client.threads.updateState(thread, { values: { trail: ["set"] }, asNode: "two" });
    await until(() => all.at(-1)?.event === "state_update");
    stop.abort();
    await reading;
    expect(JSON.stringify(all.at(-1)?.data)).toContain('"set"');
    const from = all.findIndex(one => JSON.stringify(one).includes("run_done"));
    const again = client.threads.joinStream(thread, { lastEventId: all[from]?.id as string });
    const first = await again.next();
    await again.return(undefined);
    expect(first.value).toEqual(all[from + 1]);
  });

  it("of an unknown thread is 404, with an unknown mode 422", async () => {
    await expect(client.threads.joinStream(crypto.randomUUID()).next()).rejects.toThrow("404");
    const wrong = client.threads.joinStream(await newThread(), { streamMode: ["wrong"] } as never);
    await expect(wrong.next()).rejects.toThrow("422");
  });

  it("a run without a thread is joined by its id alone", async () => {
    const run = await client.runs.create(null, "steps", { input, streamMode: ["updates"] });
    const events = await Array.fromAsync(client.runs.joinStream(null, run.run_id, { lastEventId: "-1" }));
    expect(events.map(one => one.event)).toEqual(["metadata", "updates", "updates"]);
  });
});
