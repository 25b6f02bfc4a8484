import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toUuid } from "../../src/server/catalog.ts";
import { type Child, endChildren, refusedChild, startChild } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { writeGraph } from "../support/graphs.ts";
import { langgraphError, langgraphParams, langgraphResult, post } from "../support/langgraph.ts";
import { tempFolder } from "../support/server.ts";
import { partsText, textOf } from "../support/wire.ts";

/** A LangGraph project, as its own template creates one, is served unchanged. */

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
  mkdirSync(join(folder.path, "src"));
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const AGENT = `
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { greet } from "./words.js";

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("speak", state => ({ messages: [new AIMessage(greet(String(state.messages.at(-1)?.content)))] }))
  .addEdge(START, "speak")
  .compile();
`;
const FORM = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ locale: Annotation<string>, key: Annotation<string | undefined> });
const builder = new StateGraph(State)
  .addNode("work", ({ locale }) => ({ locale: locale.toUpperCase(), key: process.env.STORY_KEY }))
  .addEdge(START, "work");
export default builder.compile();
/** A function that makes the graph for each run. */
export const make = async () => builder.compile();
`;
const WORDS = `export const greet = (name: string): string => "Hello, " + name;\nexport const NO_GRAPH = 7;\n`;

function writeProject(config: object): string {
  writeGraph(folder.path, "src/agent.ts", AGENT);
  writeGraph(folder.path, "src/form.ts", FORM);
  writeGraph(folder.path, "src/words.ts", WORDS);
  writeFileSync(join(folder.path, ".env"), "STORY_KEY=from-the-file\n");
  const file = join(folder.path, "langgraph.json");
  writeFileSync(file, JSON.stringify(config));
  return file;
}
const CONFIG = {
  node_version: "20",
  dependencies: ["."],
  graphs: {
    agent: "./src/agent.ts:graph",
    form: { path: "./src/form.ts:default", description: "Fills in forms" },
    made: "./src/form.ts:make",
    old: "./src/agent.py:graph",
  },
  env: ".env",
  auth: { path: "./src/auth.ts:auth" },
};
const start = (file: string, command: "serve" | "dev" = "serve"): Promise<Child> =>
  startChild({
    command,
    agents: [file],
    data: join(folder.path, "data"),
    flags: ["--durability", "process"],
  });

test("every graph is an agent, by name and by LangGraph's id, with its variables; ignored entries are logged", async () => {
  const server = await start(writeProject(CONFIG));
  expect(server.banner.agents.map((one: { name: string }) => one.name)).toEqual(["agent", "form", "made"]);
  // The id that LangGraph's own server gives to a graph of this name.
  expect(toUuid("agent")).toBe("fe096781-5601-53d2-b2f6-0d3403f7e9ca");
  for (const id of ["agent", toUuid("agent")]) {
    const task = await langgraphResult(`${server.url}/a2a/${id}`, "message/send", langgraphParams("Ann"));
    expect([task.status.state, partsText(task.artifacts[0].parts)]).toEqual(["completed", "Hello, Ann"]);
  }
  const locale = langgraphParams([{ kind: "data", data: { locale: "de" } }]);
  for (const name of ["form", "made"]) {
    const task = await langgraphResult(`${server.url}/a2a/${name}`, "message/send", locale);
    expect(task.artifacts[0].parts).toEqual([{ kind: "data", data: { locale: "DE", key: "from-the-file" } }]);
  }
  // Its input has no messages, so it accepts no text.
  const refused = await langgraphError(`${server.url}/a2a/form`, "message/send", langgraphParams("text"));
  expect([refused.code, refused.message]).toEqual([-32602, expect.stringContaining('"messages"')]);
  const card = await (await fetch(`${server.url}/.well-known/agent-card.json?assistant_id=form`)).json();
  expect(card).toMatchObject({ name: "form", description: "Fills in forms" });
  expect(textOf((await rpc(server.url, "SendMessage", sendParams("Bob"))).body)).toBe("Hello, Bob");
  const output = server.stderr();
  for (const text of ["graphs.old is ignored", "is Python", "auth is ignored"])
    expect(output).toContain(text);
  expect(output).not.toContain("node_version");
});

test("http.disable_a2a disables LangGraph's mount, and http.cors allows origins", async () => {
  const http = { disable_a2a: true, cors: { allow_origins: ["https://page.example"] } };
  const server = await start(writeProject({ ...CONFIG, http }));
  expect((await post(`${server.url}/a2a/agent`, {})).status).toBe(404);
  const headers = { origin: "https://page.example", "access-control-request-method": "POST" };
  const reply = await fetch(server.url, { method: "OPTIONS", headers });
  expect(reply.headers.get("access-control-allow-origin")).toBe("https://page.example");
});

test("dragoman dev reloads graphs when a file that they import changes, or the langgraph.json itself", async () => {
  const file = writeProject(CONFIG);
  const server = await start(file, "dev");
  const answer = async (agent: string): Promise<string> =>
    textOf((await rpc(`${server.url}/agents/${agent}`, "SendMessage", sendParams("Ann"))).body);
  expect(await answer("agent")).toBe("Hello, Ann");
  writeFileSync(join(folder.path, "src/words.ts"), WORDS.replace("Hello", "Bye"));
  await until(async () => (await answer("agent")) === "Bye, Ann");
  writeFileSync(file, JSON.stringify({ graphs: { ...CONFIG.graphs, second: "./src/agent.ts:graph" } }));
  await until(async () => (await answer("second")) === "Bye, Ann");
});

test("a missing or invalid graph is reported with its file and a remedy, before anything is served", async () => {
  const refused = async (graph: string): Promise<string> => {
    const file = writeProject({ graphs: { agent: graph } });
    return (await refusedChild({ agents: [file], data: join(folder.path, "data") })).err;
  };
  expect(await refused("./src/nowhere.ts:graph")).toMatch(/nowhere\.ts\n {2}File not found/);
  expect(await refused("./src/agent.ts:graf")).toMatch(/has no export "graf" \(did you mean "graph"\?\)/);
  expect(await refused("./src/words.ts")).toMatch(
    /has no export "default"\n {2}Fix: Name one of its exports: NO_GRAPH, greet/,
  );
  expect(await refused("./src/words.ts:NO_GRAPH")).toMatch(
    /The agent "agent": langgraph\(\) takes a compiled graph/,
  );
});
