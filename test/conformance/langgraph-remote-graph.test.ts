import { HumanMessage } from "@langchain/core/messages";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lgAgents } from "../support/lg-agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** `RemoteGraph` of LangGraph, unmodified: a graph on this server as a node of another program. */

let server: TestServer;
beforeAll(async () => {
  server = await serve(lgAgents());
});
afterAll(() => server.stop());

const graph = (graphId: string): RemoteGraph => new RemoteGraph({ graphId, url: server.url });
const onThread = () => ({ configurable: { thread_id: crypto.randomUUID() } });
const textsOf = (values: unknown): unknown[] =>
  (values as { messages: { content: unknown }[] }).messages.map(one => one.content);

it("is invoked, and its state is read and changed", async () => {
  const config = onThread();
  const values = await graph("chat").invoke({ messages: [new HumanMessage("hi")] }, config);
  expect(textsOf(values)).toEqual(["hi", "You said hi"]);
  const state = await graph("chat").getState(config);
  expect(textsOf(state.values)).toEqual(["hi", "You said hi"]);
  await graph("chat").updateState(config, { messages: [{ role: "user", content: "more" }] }, "model");
  const history = [];
  for await (const one of graph("chat").getStateHistory(config)) history.push(one);
  expect(textsOf(history[0]?.values)).toEqual(["hi", "You said hi", "more"]);
  expect(history.length).toBeGreaterThan(3);
});

it("is streamed in several modes", async () => {
  const modes = new Set<string>();
  const stream = await graph("steps").stream(
    { trail: [] },
    { ...onThread(), streamMode: ["values", "updates", "custom"] },
  );
  for await (const [mode] of stream as AsyncIterable<[string, unknown]>) modes.add(mode);
  expect([...modes].toSorted()).toEqual(["custom", "updates", "values"]);
});

it("its interrupts are resumed by a command", async () => {
  const { Command } = await import("@langchain/langgraph");
  const config = onThread();
  const first = await graph("approval")
    .invoke({ messages: [new HumanMessage("do it")] }, config)
    .catch(error => error);
  expect(JSON.stringify(first)).toContain("Shall I?");
  const values = await graph("approval").invoke(new Command({ resume: "yes" }) as never, config);
  expect(textsOf(values).at(-1)).toBe('The answer is "yes"');
});

it("streams events of version 3", async () => {
  const options = { ...onThread(), version: "v3" } as const;
  const run = await graph("chat").streamEvents({ messages: [new HumanMessage("hi")] }, options as never);
  const methods = new Set<string>();
  for await (const event of run as unknown as AsyncIterable<{ method: string }>) methods.add(event.method);
  for (const method of ["values", "messages", "lifecycle"]) expect([...methods]).toContain(method);
});

it("has the drawing of the graph", async () => {
  const drawn = await graph("steps").getGraphAsync();
  expect(Object.keys(drawn.nodes)).toContain("one");
});
