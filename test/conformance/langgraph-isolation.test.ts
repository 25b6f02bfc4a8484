import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GuardedServer, serveGuarded } from "../support/callers.ts";
import { lgAgents } from "../support/lg-agents.ts";

/** Callers of the LangGraph API reach their own records only, on every route. */

let server: GuardedServer;
let alice: Client;
let bob: Client;
beforeAll(async () => {
  server = await serveGuarded(lgAgents());
  const client = async (name: string): Promise<Client> => {
    const { headers } = await server.issue(name);
    return new Client({
      apiUrl: server.url,
      callerOptions: { maxRetries: 0 },
      defaultHeaders: { ...headers },
    });
  };
  [alice, bob] = [await client("alice"), await client("bob")];
});
afterAll(() => server.stop());

describe("a caller without credentials", () => {
  it("is refused on every route but /ok and /info", async () => {
    for (const [verb, path] of [
      ["POST", "/threads"],
      ["POST", "/threads/search"],
      ["POST", "/runs/stream"],
      ["POST", "/runs/wait"],
      ["POST", "/assistants/search"],
      ["GET", `/threads/${crypto.randomUUID()}/state`],
      ["GET", `/threads/${crypto.randomUUID()}/runs/${crypto.randomUUID()}/stream`],
    ] as const) {
      const response = await fetch(server.url + path, {
        method: verb,
        ...(verb === "POST" && { body: "{}" }),
      });
      expect([path, response.status]).toEqual([path, 401]);
      expect(await response.json()).toHaveProperty("detail");
    }
    expect((await fetch(`${server.url}/ok`)).status).toBe(200);
    expect((await fetch(`${server.url}/info`)).status).toBe(200);
  });
});

describe("another caller", () => {
  it("finds no thread, run, state or assistant of the first, whatever the route", async () => {
    const { thread_id } = await alice.threads.create({ metadata: { mine: true } });
    await alice.runs.wait(thread_id, "steps", { input: { trail: ["secret"] } });
    const [run] = await alice.runs.list(thread_id);
    const made = await alice.assistants.create({ graphId: "steps" });
    const runId = run?.run_id as string;
    const input = { trail: [] };
    for (const call of [
      () => bob.threads.get(thread_id),
      () => bob.threads.getState(thread_id),
      () => bob.threads.getHistory(thread_id),
      () => bob.threads.update(thread_id, { metadata: {} }),
      () => bob.threads.updateState(thread_id, { values: input }),
      () => bob.threads.delete(thread_id),
      () => bob.threads.copy(thread_id),
      () => bob.runs.list(thread_id),
      () => bob.runs.get(thread_id, runId),
      () => bob.runs.join(thread_id, runId),
      () => bob.runs.cancel(thread_id, runId),
      () => bob.runs.delete(thread_id, runId),
      () => bob.runs.create(thread_id, "steps", { input }),
      () => bob.runs.wait(thread_id, "steps", { input }),
      () => bob.runs.stream(thread_id, "steps", { input }).next(),
      () => bob.runs.joinStream(thread_id, runId).next(),
      () => bob.runs.joinStream(null, runId).next(),
      () => bob.threads.joinStream(thread_id, { lastEventId: "-" }).next(),
      () => bob.runs.cancelMany({ threadId: thread_id, runIds: [runId] }),
      () => bob.assistants.get(made.assistant_id),
      () => bob.runs.wait(null, made.assistant_id, { input }),
    ])
      await expect(call(), call.toString()).rejects.toThrow("404");
    expect(await bob.threads.search({ metadata: { mine: true } })).toEqual([]);
    expect(await bob.assistants.search({ limit: 100 })).toHaveLength(lgAgents().length);
    expect((await alice.threads.getState(thread_id)).values).toEqual({ trail: ["secret", "one", "two"] });
  });

  it("does not get there by config.configurable.thread_id or checkpoint ids", async () => {
    const { thread_id } = await alice.threads.create();
    await alice.runs.wait(thread_id, "steps", { input: { trail: ["secret"] } });
    const { checkpoint } = await alice.threads.getState(thread_id);
    const own = await bob.threads.create();
    const config = {
      configurable: { thread_id, checkpoint_id: checkpoint.checkpoint_id, __pregel_checkpointer: {} },
    };
    const values = await bob.runs.wait(own.thread_id, "steps", {
      input: { trail: [] },
      config: config as never,
    });
    expect(values).toEqual({ trail: ["one", "two"] });
    const forked = bob.runs.wait(own.thread_id, "steps", { input: null, checkpoint: checkpoint as never });
    expect(JSON.stringify(await forked.catch(String))).not.toContain("secret");
  });

  it("may use the same thread id for a thread of its own", async () => {
    const threadId = crypto.randomUUID();
    await alice.threads.create({ threadId, metadata: { of: "alice" } });
    const made = await bob.threads.create({ threadId, metadata: { of: "bob" } });
    expect(made.metadata).toEqual({ of: "bob" });
    await bob.threads.delete(threadId);
    expect((await alice.threads.get(threadId)).metadata).toEqual({ of: "alice" });
  });
});
