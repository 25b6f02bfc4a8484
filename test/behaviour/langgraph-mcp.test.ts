import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { langgraph } from "../../src/runtime/langgraph/index.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { echo } from "../support/agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** MCP as LangGraph's server has it: a tool per assistant, with the input of its graph as arguments. */

const State = Annotation.Root({ name: Annotation<string>, greeting: Annotation<string> });
const graph = new StateGraph(State)
  .addNode("greet", ({ name }) => {
    if (name === "nobody") throw new Error("no such person");
    return { greeting: `Hello, ${name}` };
  })
  .addEdge(START, "greet")
  .compile();
const greeter = langgraph(graph, { name: "greeter", description: "Greets people" });

/** What a langgraph.json without more than graphs leads to. */
const FILE = { off: [], names: {}, auth: undefined } as unknown as NonNullable<
  ServerSettings["langgraphFile"]
>;

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await serve([greeter, echo], { langgraphFile: FILE });
  client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

test("an unmodified client lists the assistants as tools, with the graph's input as arguments", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(tool => tool.name).toSorted()).toEqual(["echo", "greeter"]);
  const tool = tools.find(one => one.name === "greeter");
  expect(tool).toMatchObject({ description: "Greets people", inputSchema: { type: "object" } });
  expect(Object.keys(tool?.inputSchema.properties ?? {}).toSorted()).toEqual(["greeting", "name"]);
});

test("a call runs the graph and returns its values; a failure is a result for the model", async () => {
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    const [content] = result.content as { text: string }[];
    return { isError: result.isError, value: JSON.parse(content?.text as string) };
  };
  expect(await call("greeter", { name: "Ann" })).toEqual({
    isError: false,
    value: { name: "Ann", greeting: "Hello, Ann" },
  });
  const echoed = await call("echo", { messages: [{ role: "user", content: "hi" }] });
  expect(JSON.stringify(echoed.value.messages)).toContain("hi");
  expect(await call("greeter", { name: "nobody" })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: "nowhere", arguments: {} })).rejects.toThrow(/Unknown tool/);
});

test("there are no sessions, and what is no call is refused", async () => {
  const send = (verb: string, body?: string) =>
    fetch(`${server.url}/mcp`, { method: verb, ...(body !== undefined && { body }) });
  expect((await send("GET")).status).toBe(405);
  expect((await send("DELETE")).status).toBe(404);
  expect((await send("POST", "[]")).status).toBe(400);
  const notified = await send("POST", '{"jsonrpc":"2.0","method":"notifications/initialized"}');
  expect([notified.status, await notified.text()]).toEqual([202, ""]);
  const unknown = await send("POST", '{"jsonrpc":"2.0","id":1,"method":"resources/list"}');
  expect(await unknown.json()).toMatchObject({
    id: 1,
    error: { message: "Method not found: resources/list" },
  });
});
