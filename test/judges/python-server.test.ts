/** Projects of LangGraph for Python with a langgraph.json, served as users do. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type Child, endChildren, refusedChild, startChild } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { isRunning } from "../support/pids.ts";
import { tempFolder } from "../support/server.ts";
import { partsText, stateOf, taskOf, textOf } from "../support/wire.ts";
import { installPython, LANGGRAPH_PACKAGES } from "./python.ts";

const python = installPython("langgraph", LANGGRAPH_PACKAGES) as string;
/** The agent of the LangSmith documentation, unchanged. */
const AGENT = new URL("../../examples/langgraph-python/agent.py", import.meta.url).pathname;
const PLANNER = new URL("../../examples/langgraph-python/planner.py", import.meta.url).pathname;
const SCRIPT = new URL("../support/python/two_agents.py", import.meta.url).pathname;

let folder: ReturnType<typeof tempFolder>;
let model: ChatServer;
beforeEach(async () => {
  folder = tempFolder();
  model = await startChatServer(text => ({
    json: { id: "1", object: "chat.completion", choices: [{ index: 0, message: answerTo(text) }] },
  }));
});
afterEach(async () => {
  await endChildren();
  await model.close();
  folder.remove();
});
const answerTo = (text: string) => ({ role: "assistant", content: `You said: ${text}` });

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder.path, name)), { recursive: true });
  writeFileSync(join(folder.path, name), text);
};
function project(graphs: Readonly<Record<string, string>>, more: object = {}): string {
  const env = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: model.url };
  write("langgraph.json", JSON.stringify({ graphs, env, dependencies: ["."], python, ...more }));
  return join(folder.path, "langgraph.json");
}
const serve = (file: string, port = 0): Promise<Child> =>
  startChild({ agents: [file], data: join(folder.path, "data"), port, flags: ["--log-level", "info"] });
const refused = async (file: string, env: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await refusedChild({ agents: [file], data: join(folder.path, "data"), env })).err;
const send = async (server: Child, agent: string, text: string, message: object = {}): Promise<object> =>
  (await rpc(`${server.url}/agents/${agent}`, "SendMessage", sendParams(text, message))).body;
/** The Python processes of a server. */
const workersOf = (server: Child): readonly number[] =>
  spawnSync("pgrep", ["-P", String(server.pid)], { encoding: "utf8" })
    .stdout.trim()
    .split("\n")
    .filter(line => line !== "")
    .map(Number)
    .filter(pid => spawnSync("ps", ["-o", "args=", "-p", String(pid)]).stdout.includes("bridge.py"));

const HEAD = `
import asyncio, os
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
def say(text): return {"messages": [AIMessage(content=text)]}
def mark(line):
    with open("trail", "a") as trail: trail.write(line + "\\n")
def chain(*nodes):
    builder, before = StateGraph(MessagesState), START
    for node in nodes:
        builder.add_node(node.__name__, node).add_edge(before, node.__name__)
        before = node.__name__
    return builder.compile()
`;

describe.skipIf(python === undefined)("a project in Python", () => {
  test("the agent of LangSmith's documentation runs unchanged, in several turns, also after a kill", async () => {
    copyFileSync(AGENT, join(folder.path, "agent.py"));
    const file = project({ agent: "./agent.py:graph" });
    const server = await serve(file);
    const params = { message: { role: "user", messageId: "1", parts: [{ kind: "text", text: "Hello" }] } };
    const { body } = await rpc(`${server.url}/a2a/agent`, "message/send", params);
    expect(textOf(body)).toBe("You said: Hello");
    const { contextId } = taskOf(body);
    await server.kill();
    const again = await serve(file, server.port);
    const next = { ...params.message, messageId: "2", contextId };
    const second = await rpc(`${again.url}/a2a/agent`, "message/send", { message: next });
    expect(textOf(second.body)).toBe("You said: Hello");
    expect(model.requests.map(one => one.headers.authorization)).toEqual([
      "Bearer sk-test",
      "Bearer sk-test",
    ]);
  });

  test("two servers with it talk to each other by the script of the documentation", async () => {
    copyFileSync(AGENT, join(folder.path, "agent.py"));
    const file = project({ agent: "./agent.py:graph" });
    const [one, two] = [await serve(file), await startChild({ agents: [file], data: ":memory:" })];
    const source = readFileSync(SCRIPT, "utf8");
    const script = source.replace("session, 2024,", `session, ${one.port},`);
    write("talk.py", script.replace("session, 2025,", `session, ${two.port},`));
    const env = { ...process.env, AGENT_A_ID: "agent", AGENT_B_ID: "agent", PYTHONUTF8: "1" };
    const { stdout } = await promisify(execFile)(python, [join(folder.path, "talk.py")], { env });
    const said = stdout.split("\n").filter(line => line.includes("Agent"));
    expect(said).toHaveLength(6);
    expect(said[0]).toContain("Agent A: You said: Hello! Let's have a conversation.");
    expect(said[1]).toContain("Agent B: You said: You said: Hello!");
  });

  test("each graph has a process of its own, which ends with the server, also after a kill of the server", async () => {
    copyFileSync(PLANNER, join(folder.path, "planner.py"));
    write("pkg/__init__.py", "");
    write("pkg/words.py", 'TEXT = "from a package"\n');
    write(
      "pkg/graph.py",
      `${HEAD}from .words import TEXT\ndef a(state): return say(TEXT)\ngraph = chain(a)\n`,
    );
    const file = project({
      planner: "./planner.py:graph",
      file: "./pkg/graph.py:graph",
      module: "pkg.graph:graph",
    });
    const server = await serve(file);
    expect(textOf(await send(server, "file", "hi"))).toBe("from a package");
    expect(textOf(await send(server, "module", "hi"))).toBe("from a package");
    const asked = await send(server, "planner", "Lisbon");
    expect(stateOf(asked)).toBe("input-required");
    const done = await send(server, "planner", "yes", { taskId: taskOf(asked).id });
    expect(textOf(done)).toContain("It is booked.");
    const workers = workersOf(server);
    expect(workers).toHaveLength(3);
    await server.kill();
    await until(() => workers.every(pid => !isRunning(pid)));
    const again = await serve(file, server.port);
    const others = workersOf(again);
    await again.stop();
    await until(() => others.every(pid => !isRunning(pid)));
  });

  test("a killed process is replaced, and its run goes on from the last checkpoint", async () => {
    write(
      "slow.py",
      `${HEAD}
def a(state):
    mark("a")
    return say("one ")
async def b(state):
    mark("b")
    while not os.path.exists("open"): await asyncio.sleep(0.01)
    return say("two")
graph = chain(a, b)
`,
    );
    const server = await serve(project({ slow: "./slow.py:graph" }));
    const trail = () =>
      existsSync(join(folder.path, "trail")) ? readFileSync(join(folder.path, "trail"), "utf8") : "";
    const atOnce = { configuration: { returnImmediately: true } };
    const url = `${server.url}/agents/slow`;
    const { body } = await rpc(url, "SendMessage", { ...sendParams("go"), ...atOnce });
    await until(() => trail() === "a\nb\n");
    process.kill(workersOf(server)[0] as number, "SIGKILL");
    await until(() => trail() === "a\nb\nb\n");
    write("open", "");
    const { id } = taskOf(body);
    const get = async () => (await rpc(url, "GetTask", { id })).body;
    await until(async () => stateOf(await get()) === "completed");
    const found = await get();
    expect(textOf(found)).toBe("one \n\ntwo");
    expect(taskOf(found).artifacts).toHaveLength(1);
    expect(trail()).toBe("a\nb\nb\n");
    expect(server.stderr()).toContain("the Python process of a graph has ended: the run is resumed");
  });

  test("kills of the process and of the server at any place lose and repeat no output", async () => {
    const words = ["one ", "two ", "three ", "four ", "five ", "six "];
    write(
      "steps.py",
      `${HEAD}
from langchain_core.language_models.fake_chat_models import FakeListChatModel
def step(text):
    model = FakeListChatModel(responses=[text], sleep=0.02)
    async def run(state): return {"messages": [await model.ainvoke(state["messages"])]}
    run.__name__ = text.strip()
    return run
graph = chain(*[step(text) for text in ${JSON.stringify(words)}])
`,
    );
    const agent = { runtime: "langgraph", name: "steps", graph: "./steps.py:graph", separator: "", python };
    write("dragoman.config.ts", `export default { agents: [${JSON.stringify(agent)}] };\n`);
    const file = join(folder.path, "dragoman.config.ts");
    let server = await serve(file);
    const whole = words.join("");
    for (const [process_, server_] of [
      [2, 9],
      [5, 17],
      [8, 12],
      [13, 22],
    ] as const) {
      const url = (): string => `${server.url}/agents/steps`;
      const atOnce = { configuration: { returnImmediately: true } };
      const { id } = taskOf((await rpc(url(), "SendMessage", { ...sendParams("go"), ...atOnce })).body);
      const read = async (): Promise<string> => textOf((await rpc(url(), "GetTask", { id })).body);
      await until(async () => (await read()).length >= process_);
      process.kill(workersOf(server)[0] as number, "SIGKILL");
      await until(async () => (await read()).length >= server_);
      await server.kill();
      server = await serve(file, server.port);
      await until(async () => stateOf((await rpc(url(), "GetTask", { id })).body) === "completed");
      expect(await read()).toBe(whole);
    }
  });

  test("an exception is in the log with file and line, and not in the answer", async () => {
    write("bad.py", `${HEAD}\ndef fails(state):\n    raise RuntimeError("SECRET")\ngraph = chain(fails)\n`);
    const server = await serve(project({ bad: "./bad.py:graph" }));
    const body = await send(server, "bad", "hi");
    expect([stateOf(body), partsText(taskOf(body).status.message?.parts)]).toEqual([
      "failed",
      expect.stringMatching(/^The agent failed\. Its operator finds the reason in the log under \S+\.$/),
    ]);
    await until(() => server.stderr().includes("SECRET"));
    expect(server.stderr()).toMatch(/bad\.py\\", line 16, in fails/);
  });
});

describe.skipIf(python === undefined)("a project in Python that cannot be loaded", () => {
  test.each([
    [
      "a syntax error",
      "x = 1\ndef f(:\n",
      /Cannot load .*agent\.py:2\n {2}SyntaxError: .*\n {4}2 \| def f\(:/,
    ],
    ["an exception", "x = 1\nraise ValueError('no')\n", /Cannot load .*agent\.py:2\n {2}ValueError: no/],
    [
      "a missing module",
      "\nimport nothing_here\n",
      /agent\.py:2\n.*No module named 'nothing_here'\n.*\n.*pip install nothing-here/,
    ],
    ["another name", `${HEAD}def a(s): pass\nother = chain(a)\n`, /has no "graph"; its graphs: other/],
    ["no graph", "graph = 7\n", /expected a graph of LangGraph or a function that returns one, got int/],
    ["an import that ends the process", "import os\nos._exit(4)\n", /exited with code 4/],
  ])("is refused at the start with the place and the reason: %s", async (_case, text, message) => {
    write("agent.py", text);
    expect(await refused(project({ agent: "./agent.py:graph" }))).toMatch(message);
  });

  test("is refused if its import hangs", async () => {
    write("agent.py", "import time\ntime.sleep(100)\n");
    const agent = { runtime: "langgraph", name: "a", graph: "./agent.py:graph", python, importMs: 1_000 };
    write("dragoman.config.ts", `export default { agents: [${JSON.stringify(agent)}] };\n`);
    const message = await refused(join(folder.path, "dragoman.config.ts"));
    expect(message).toMatch(/did not import the graph within 1000 ms\n.*Move slow work out of the module/);
  });

  test("names the command that installs what is missing: langgraph, or Python itself", async () => {
    write("agent.py", "");
    const bare = join(folder.path, "bare");
    execFileSync(python, ["-m", "venv", "--without-pip", bare]);
    const file = project({ agent: "./agent.py:graph" }, { python: "./bare" });
    expect(await refused(file)).toMatch(
      /langgraph is not installed for (.*)\n {2}Fix: \1 -m pip install langgraph/,
    );
    const none = project({ agent: "./agent.py:graph" }, { python: undefined });
    expect(await refused(none, { PATH: "/nothing", VIRTUAL_ENV: "" })).toMatch(
      /Python was not found: install Python 3\.10 or newer, then: cd .* && python3 -m venv \.venv && \.venv\/bin\/pip install langgraph/,
    );
    const missing = project({ agent: "./missing.py:graph" });
    expect(await refused(missing)).toMatch(/Cannot load .*missing\.py\n {2}File not found/);
  });
});
