import { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endChildren } from "../support/child.ts";
import { sendParams, until } from "../support/client.ts";
import { graphHead, writeGraph } from "../support/graphs.ts";
import { RestartableServer } from "../support/restartable-server.ts";

/** Runs of LangGraph's API in a server that is killed: the official client goes on where it was. */

let on: RestartableServer;
beforeEach(() => {
  on = new RestartableServer();
});
afterEach(async () => {
  await endChildren();
  on.remove();
});

const GRAPH = `
const State = Annotation.Root({ trail: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) });
const node = name => async (_state, config) => {
  mark("in " + name);
  if (name === "two") await gate("two", config.signal);
  return { trail: [name] };
};
const graph = new StateGraph(State).addNode("one", node("one")).addNode("two", node("two")).addNode("three", node("three"))
  .addEdge(START, "one").addEdge("one", "two").addEdge("two", "three");`;

const start = (): Promise<void> => {
  on.use(folder =>
    writeGraph(
      folder,
      "worker.ts",
      `${graphHead(folder)}${GRAPH}\nexport default langgraph(graph.compile(), { name: "worker", attempts: 5 });\n`,
    ),
  );
  return on.start();
};
const connect = (): Client => new Client({ apiUrl: on.url, callerOptions: { maxRetries: 0 } });

test("a run that is killed continues at its checkpoint, and its stream after the last event", async () => {
  await start();
  const { thread_id } = await connect().threads.create();
  let runId = "";
  const stream = connect().runs.stream(thread_id, "worker", {
    input: { trail: [] },
    streamMode: "updates",
    onRunCreated: run => void (runId = run.run_id),
  });
  const seen: { readonly event: string; readonly id?: string; readonly data: unknown }[] = [];
  for await (const event of stream) {
    seen.push(event as never);
    if (event.event === "updates") break;
  }
  expect(seen.at(-1)?.data).toEqual({ one: { trail: ["one"] } });
  // A node whose checkpoint is not stored yet would run again.
  await until(async () => (await connect().threads.getState(thread_id)).next[0] === "two");
  await on.server.kill();
  on.open("two");
  await on.start();
  const lastEventId = seen.at(-1)?.id as string;
  for await (const event of connect().runs.joinStream(thread_id, runId, { lastEventId }))
    seen.push(event as never);
  expect(seen.filter(one => one.event === "updates").map(one => Object.keys(one.data as object)[0])).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(seen.findLast(one => one.event === "metadata")?.data).toMatchObject({ attempt: 2 });
  expect(on.trail().filter(line => line === "in one")).toHaveLength(1);
  expect((await connect().threads.getState(thread_id)).values).toEqual({ trail: ["one", "two", "three"] });
  expect((await connect().runs.get(thread_id, runId)).status).toBe("success");
});

test("what A2A has written is a thread here, and the other way round", async () => {
  await start();
  on.open("two");
  const contextId = crypto.randomUUID();
  const { message } = sendParams("x") as { readonly message: object };
  const data = { message: { ...message, contextId, parts: [{ data: { trail: ["a2a"] } }] } };
  const response = await fetch(on.url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: data }),
  });
  expect(await response.text()).toContain("TASK_STATE_COMPLETED");
  const client = connect();
  const [thread] = await client.threads.search({ metadata: { graph_id: "worker" } });
  expect(thread?.thread_id).toBe(contextId);
  expect(thread?.values).toEqual({ trail: ["a2a", "one", "two", "three"] });
  await client.runs.wait(contextId, "worker", { input: { trail: ["lg"] } });
  const tasks = await fetch(`${on.url}/tasks?contextId=${contextId}`, { headers: { "a2a-version": "1.0" } });
  expect(((await tasks.json()) as { tasks: unknown[] }).tasks).toHaveLength(2);
});
