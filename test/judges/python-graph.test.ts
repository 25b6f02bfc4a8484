/** Graphs in Python, turn by turn, without a server. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { RunInterrupted } from "../../src/ports/index.ts";
import { type PythonOptions, pythonGraph } from "../../src/runtime/langgraph/python/index.ts";
import { data, dataIn, questionIn, responseText, stateOf } from "../support/graph-turns.ts";
import { Conversation } from "../support/turn.ts";
import { installPython, LANGGRAPH_PACKAGES } from "./python.ts";

const python = installPython("langgraph", LANGGRAPH_PACKAGES) as string;
const FILE = new URL("python-graphs/graphs.py", import.meta.url).pathname;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const trail = (): readonly string[] => {
  const file = join(folder, "trail");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

async function load(name: string, options: Partial<PythonOptions> = {}): Promise<AgentDefinition> {
  const variables = { ...(process.env as Record<string, string>), TRAIL: join(folder, "trail") };
  const reference = { target: FILE, name };
  const given = { name: "tested", python, separator: "", ...options };
  return (await pythonGraph(reference, given, { folder, variables })).definition;
}

/** A message without an id: the id that the server gives would be the same in each conversation of a test. */
const user = (content: string) => ({ role: "user", content });

async function run(name: string, content: Parameters<Conversation["addMessage"]>[0], options = {}) {
  const conversation = new Conversation().addMessage(content);
  await conversation.run(await load(name, options));
  return conversation;
}

describe.skipIf(python === undefined)("a graph in Python", () => {
  test("streams the tokens of its model, and logs what it prints", async () => {
    const agent = await load("speaker");
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(agent);
    expect(events.filter(event => event.type === "artifact").length).toBeGreaterThan(5);
    expect(responseText(conversation)).toBe("first answer");
    expect(conversation.logged.map(line => line.text)).toContain("printed by a node");
  });

  test("keeps the state of a context between tasks, compiled or not, whatever checkpointer it has", async () => {
    for (const name of ["counter", "own_saver"]) {
      const agent = await load(name);
      const one = new Conversation().addMessage("a");
      await one.run(agent);
      const two = new Conversation(one.storage).addMessage([
        { kind: "data", data: { messages: [user("b")] } },
      ]);
      await two.run(agent);
      const other = new Conversation().addMessage("c");
      await other.run(agent);
      const texts = [one, two, other].map(responseText);
      expect(texts).toEqual(["turn 1: a", "turn 2: b", "turn 1: c"]);
    }
  });

  test("without checkpoints has no state", async () => {
    const agent = await load("stateless");
    const one = new Conversation().addMessage("a");
    await one.run(agent);
    const two = new Conversation(one.storage).addMessage([{ kind: "data", data: { messages: [user("b")] } }]);
    await two.run(agent);
    expect([one, two].map(responseText)).toEqual(["turn 1: a", "turn 1: b"]);
  });

  test("asks several questions at once, also inside a subgraph, and goes on when all are answered", async () => {
    const agent = await load("asker");
    const conversation = new Conversation().addMessage("hi");
    await conversation.run(agent);
    expect(stateOf(conversation)).toBe("input-required");
    const [text, ...questions] = questionIn(conversation);
    expect(text).toEqual({ kind: "text", text: "Which colour?\nWhich size?" });
    const ids = questions.map(part => (part.kind === "data" ? (part.data as { id: string }).id : ""));
    await conversation.addAnswers({ [ids[0] as string]: "red" }).run(agent);
    expect(stateOf(conversation)).toBe("input-required");
    await conversation.addAnswers({ [ids[0] as string]: "red", [ids[1] as string]: "L" }).run(agent);
    expect(responseText(conversation)).toMatch(/^(colour redsize L|size Lcolour red)done$/);
    // The node begins again at its first line, once.
    expect(trail()).toEqual(["size", "size"]);
  });

  test("pauses at a breakpoint of its author", async () => {
    const agent = await load("paused");
    const conversation = new Conversation().addMessage("hi");
    await conversation.run(agent);
    expect([stateOf(conversation), responseText(conversation)]).toEqual(["input-required", "a"]);
    await conversation.addMessage("go on").run(agent);
    expect(responseText(conversation)).toBe("ab");
  });

  test("whose process is killed is resumed by the next attempt: finished nodes are not repeated", async () => {
    const agent = await load("fragile");
    const conversation = new Conversation().addMessage("hi");
    await expect(conversation.run(agent)).rejects.toThrow(RunInterrupted);
    await conversation.run(agent);
    expect(trail()).toEqual(["first", "second", "second"]);
    expect(responseText(conversation)).toBe("first second");
  });

  test("that always ends its process fails at the third attempt", async () => {
    const agent = await load("hopeless");
    const conversation = new Conversation().addMessage("hi");
    await expect(conversation.run(agent)).rejects.toThrow(RunInterrupted);
    await expect(conversation.run(agent)).rejects.toThrow(RunInterrupted);
    const error = await conversation.run(agent).catch(reason => reason);
    expect(error).not.toBeInstanceOf(RunInterrupted);
    expect(error.message).toContain("exited with code 3");
    expect(trail()).toEqual(["first", "dies", "dies", "dies"]);
  });

  test("fails with the traceback of Python: file, line and exception", async () => {
    const error = await run("failing", "hi").catch(reason => reason);
    expect([error.name, error.message]).toEqual(["KeyError", "'SECRET'"]);
    expect(error.stack).toMatch(/File ".*graphs\.py", line \d+, in fails\n +return secret\["SECRET"\]/);
    expect(error.stack).not.toContain("bridge.py");
  });

  test("fails if its state cannot be serialized, and names the type", async () => {
    const error = await run("locked", [data({ messages: [] }), data({ lock: 1 })]).catch(reason => reason);
    expect(`${error.name}: ${error.message}`).toMatch(/^TypeError: .*lock/);
  });

  test("is stopped at its recursion limit", async () => {
    const conversation = await run("endless", "hi", { recursionLimit: 5 });
    expect(stateOf(conversation)).toBe("failed");
    expect(JSON.stringify(conversation.task.status)).toContain("stopped after 5 steps");
  });

  test.each(["waiting", "blocking"])("is canceled at once: %s", async name => {
    const agent = await load(name);
    const conversation = new Conversation().addMessage("hi");
    const running = conversation.run(agent);
    running.catch(() => {});
    await expect.poll(trail).toEqual(["begun"]);
    const at = performance.now();
    conversation.abort.abort(new Error("canceled"));
    await expect(running).rejects.toThrow("canceled");
    expect(performance.now() - at).toBeLessThan(5_000);
    if (name === "waiting") await expect.poll(trail).toEqual(["begun", "canceled"]);
  });

  test("runs concurrently in one process", async () => {
    const agent = await load("waiting");
    const conversations = [1, 2, 3].map(() => new Conversation().addMessage("hi"));
    const runs = conversations.map(one => one.run(agent));
    for (const one of runs) one.catch(() => {});
    await expect.poll(trail).toHaveLength(3);
    for (const one of conversations) one.abort.abort(new Error("enough"));
    await Promise.allSettled(runs);
  });

  test("without messages takes data and returns its output", async () => {
    const agent = await load("adder");
    expect(agent.inputSchema).toMatchObject({ properties: { a: { type: "number" } }, required: ["a", "b"] });
    const conversation = new Conversation().addMessage([data({ a: 1, b: 2.5, total: 7 })]);
    await conversation.run(agent);
    expect(dataIn(conversation)).toEqual([["result", { total: 3.5 }]]);
    const text = await run("adder", "hello");
    expect(stateOf(text)).toBe("rejected");
    expect(dataIn(await run("nan", [data({ a: 1, b: 2 })]))).toEqual([
      ["result", { a: 1, b: 1, total: null }],
    ]);
  });

  test("with a schema rejects data that does not match, with the reason", async () => {
    const good = await run("orders", [data({ amount: 2 })]);
    expect(dataIn(good)).toEqual([["result", { amount: 2, lines: [{ text: "2 pieces" }] }]]);
    const bad = await run("orders", [data({ amount: "many" })]);
    expect(stateOf(bad)).toBe("rejected");
    expect(JSON.stringify(bad.task.status)).toContain("amount: Input should be a valid integer");
  });

  test("may be made by a function for each run, async and with its config", async () => {
    const made = await run("make_graph", "hi", { context: { model: "m1" } });
    expect(responseText(made)).toBe("made for m1");
    expect(responseText(await run("make_managed", "hi"))).toBe("managed");
    expect(trail().filter(line => line === "open")).toHaveLength(trail().length / 2);
  });

  test("gets its context, and the thread of its traces", async () => {
    const told = await run("telling", "hi", { context: { model: "m2", unknown: 1 } });
    expect(responseText(told)).toBe("context-1 context-1 m2");
  });

  test("has the long-term memory of the caller as its store", async () => {
    const agent = await load("remembering");
    const conversation = new Conversation().addMessage("apples");
    await conversation.run(agent);
    expect(responseText(conversation)).toBe("None ['last'] [('facts', 'a')] None{'v': 1}");
    await conversation.addMessage("pears").run(agent);
    expect(responseText(conversation)).toContain("apples ['last'] [('facts', 'a')] True");
  });

  test("may call another graph without await, in a node that is no coroutine", async () => {
    expect(responseText(await run("calling", "hi"))).toBe("from inside");
  });
});
