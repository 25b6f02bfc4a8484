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
  },
  env: ".env",
};
const AUTH = `
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
export const auth = new Auth().authenticate(request => {
  const name = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
  if (!["ann", "bob"].includes(name)) throw new HTTPException(401, { message: "Who are you?" });
  return { identity: name, permissions: [new URL(request.url).pathname] };
});
`;
const APP = `
export const app = {
  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/bytes") return new Response(new Uint8Array([0, 255, 128]), { status: 201 });
    if (pathname !== "/hello") return new Response("nothing here", { status: 404 });
    return Response.json({ verb: request.method, search, body: await request.text() });
  },
};
`;
const start = (file: string, command: "serve" | "dev" = "serve"): Promise<Child> =>
  startChild({
    command,
    agents: [file],
    data: join(folder.path, "data"),
    flags: ["--durability", "process"],
  });

test("every graph is an agent, by name and by LangGraph's id, with its variables", async () => {
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
  expect(server.stderr()).not.toContain("node_version");
  const info = await (await fetch(`${server.url}/info`)).json();
  expect(info).toMatchObject({ version: "1.5.1", server_version: expect.any(String), context: "js" });
  // Pages of this machine may call, as they may call LangGraph's server; others may not.
  const fromPage = async (origin: string): Promise<readonly unknown[]> => {
    const reply = await fetch(`${server.url}/threads`, { method: "POST", headers: { origin }, body: "{}" });
    return [reply.status, reply.headers.get("access-control-allow-origin")];
  };
  expect(await fromPage("http://localhost:3000")).toEqual([200, "http://localhost:3000"]);
  expect(await fromPage("https://page.example")).toEqual([403, null]);
  expect(await fromPage("http://localhost.page.example")).toEqual([403, null]);
});

test("http.disable_a2a disables A2A everywhere, which the start says, and http.cors allows origins", async () => {
  const http = { disable_a2a: true, disable_store: true, cors: { allow_origins: ["https://page.example"] } };
  const server = await start(writeProject({ ...CONFIG, http }));
  expect(server.banner.off).toEqual(["A2A", "store (http.disable_store)"]);
  for (const path of ["/a2a/agent", "/", "/agents/agent", "/v1/message:send"])
    expect([path, (await post(`${server.url}${path}`, {})).status]).toEqual([path, 404]);
  expect((await fetch(`${server.url}/.well-known/agent-card.json`)).status).toBe(404);
  const headers = { origin: "https://page.example", "access-control-request-method": "POST" };
  const reply = await fetch(server.url, { method: "OPTIONS", headers });
  expect(reply.headers.get("access-control-allow-origin")).toBe("https://page.example");
});

test("auth authenticates every call by the project's own function, and callers are isolated", async () => {
  const file = writeProject({ ...CONFIG, auth: { path: "./src/auth.ts:auth" } });
  writeGraph(folder.path, "src/auth.ts", AUTH);
  const server = await start(file);
  const call = (name: string | undefined, method: string, params: object) =>
    rpc(server.url, method, params, name === undefined ? {} : { authorization: `Bearer ${name}` });
  expect((await fetch(`${server.url}/.well-known/agent-card.json`)).status).toBe(200);
  expect((await call(undefined, "SendMessage", sendParams("Ann"))).status).toBe(401);
  const refused = await call("eve", "SendMessage", sendParams("Eve"));
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    401,
    expect.stringContaining("Who are you?"),
  ]);
  const sent = await call("ann", "SendMessage", sendParams("Ann"));
  expect(textOf(sent.body)).toBe("Hello, Ann");
  const { id } = sent.body.result.task;
  expect((await call("ann", "GetTask", { id })).body.result.id).toBe(id);
  expect((await call("bob", "GetTask", { id })).body.error.message).toBe("Task not found");
});

test("an application has routes of its own, everything is below the prefix as well", async () => {
  const http = { app: "./src/app.ts:app", mount_prefix: "/my/api" };
  const file = writeProject({ ...CONFIG, http });
  writeGraph(folder.path, "src/app.ts", APP);
  const server = await start(file);
  for (const prefix of ["", "/my/api"]) {
    const reply = await fetch(`${server.url}${prefix}/hello?x=1`, { method: "PUT", body: "words" });
    expect(await reply.json()).toEqual({ verb: "PUT", search: "?x=1", body: "words" });
    const sent = await rpc(`${server.url}${prefix}/agents/agent`, "SendMessage", sendParams("Ann"));
    expect(textOf(sent.body)).toBe("Hello, Ann");
  }
  const bytes = await fetch(`${server.url}/bytes`);
  expect([bytes.status, [...(await bytes.bytes())]]).toEqual([201, [0, 255, 128]]);
  const missing = await fetch(`${server.url}/nowhere`);
  expect([missing.status, await missing.text()]).toEqual([404, "nothing here"]);
  const card = await (
    await fetch(`${server.url}/my/api/.well-known/agent-card.json?assistant_id=agent`)
  ).json();
  expect((card as { url: string }).url).toBe(`${server.url}/my/api/a2a/agent`);
});

test("what is not supported is refused before anything is served, with its line", async () => {
  writeProject({});
  const file = join(folder.path, "langgraph.json");
  writeFileSync(file, '{\n  "graphs": { "agent": "./src/agent.ts:graph" },\n  "encryption": {}\n}');
  const { err } = await refusedChild({ agents: [file], data: join(folder.path, "data") });
  expect(err).toContain(`${file}:3: encryption is not supported`);
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
