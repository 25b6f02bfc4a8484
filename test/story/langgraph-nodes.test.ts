import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lgAgents } from "../support/lg-agents.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";

/** LangGraph's API on two nodes: a run that one has created is read, joined and canceled on the other. */

let nodes: TestServer[];
beforeAll(async () => {
  const data = await (await startPostgres()).createDatabase();
  nodes = [await serve(lgAgents(), { data }), await serve(lgAgents(), { data })];
});
afterAll(async () => {
  for (const node of nodes) await node.stop();
});

const on = (node: number): Client =>
  new Client({ apiUrl: (nodes[node] as TestServer).url, callerOptions: { maxRetries: 0 } });

it("a thread, its run and its state are the same on both", async () => {
  const { thread_id } = await on(0).threads.create({ metadata: { of: "both" } });
  const input = { messages: [{ role: "human", content: "hi" }] };
  const run = await on(0).runs.create(thread_id, "chat", { input, streamMode: ["values", "messages-tuple"] });
  const read = async (node: number): Promise<unknown[]> => {
    const events: unknown[] = [];
    for await (const event of on(node).runs.joinStream(thread_id, run.run_id, { lastEventId: "-1" }))
      events.push(event);
    return events;
  };
  const [first, second] = await Promise.all([read(0), read(1)]);
  expect(JSON.stringify(second)).toContain("You said hi");
  expect(second).toEqual(first);
  const [found] = await on(1).threads.search({ metadata: { of: "both" } });
  expect(found).toEqual(await on(0).threads.get(thread_id));
});

it("a run is canceled from the other node", async () => {
  const { thread_id } = await on(0).threads.create();
  const run = await on(0).runs.create(thread_id, "slow", { input: { trail: [] } });
  await on(1).runs.cancel(thread_id, run.run_id, true);
  expect((await on(0).runs.get(thread_id, run.run_id)).status).toBe("interrupted");
});
