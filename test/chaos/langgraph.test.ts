import { afterEach, beforeEach, expect, test } from "vitest";
import { endChildren } from "../support/child.ts";
import { openStream, type SseEvent, sendParams, until } from "../support/client.ts";
import { graphHead, writeGraph } from "../support/graphs.ts";
import { langgraphError, langgraphParams, langgraphResult, resume } from "../support/langgraph.ts";
import { collect, RestartableServer } from "../support/restartable-server.ts";
import {
  foldText,
  idsOf,
  isAscending,
  partsText,
  stateOf,
  summaryOf,
  taskOf,
  textOf,
} from "../support/wire.ts";

/**
 * A LangGraph graph in a server that is killed: it continues at its checkpoint, and no output is repeated.
 */

let on: RestartableServer;
beforeEach(() => {
  on = new RestartableServer();
});
afterEach(async () => {
  await endChildren();
  on.remove();
});

const start = (graph: string, options: object = {}): Promise<void> => {
  const made = JSON.stringify({ name: "worker", separator: "", attempts: 5, ...options });
  on.use(folder =>
    writeGraph(
      folder,
      "worker.ts",
      `${graphHead(folder)}${graph}\nexport default langgraph(graph.compile(), ${made});\n`,
    ),
  );
  return on.start();
};

/** Each node writes to the trail, sends its text token by token, and can be held after half of it. */
const WORK = `
const half = (words, signal) => words === "b" ? gate("b", signal) : gate("after-" + words, signal);
class Halting extends FakeListChatModel {
  async *_streamResponseChunks(...all) {
    let before = "";
    for await (const chunk of super._streamResponseChunks(...all)) {
      // What was yielded is told when the next is asked for.
      if (before === ".") await half(this.responses[0][0], all[1].signal);
      before = chunk.text;
      yield chunk;
    }
  }
}
const node = name => async (state, config) => {
  mark("in " + name);
  const model = new Halting({ responses: [name + ". " + name + "! "] });
  return { messages: [await model.invoke(state.messages, config)] };
};
const inner = new StateGraph(MessagesAnnotation).addNode("c", node("c")).addNode("d", node("d"))
  .addEdge(START, "c").addEdge("c", "d").compile();
const graph = new StateGraph(MessagesAnnotation).addNode("a", node("a")).addNode("b", node("b")).addNode("sub", inner)
  .addEdge(START, "a").addEdge("a", "b").addEdge("b", "sub");`;
const WHOLE = "a. a! b. b! c. c! d. d! ";
const GATES = ["b", "after-a", "after-c", "after-d"];

test("a kill in any node: earlier nodes are not run again, and readers get the same as without a kill", async () => {
  await start(WORK);
  const stream = await openStream(on.url, "SendStreamingMessage", sendParams("go"));
  const first = (await stream.next()) as SseEvent;
  const { id } = first.data.result.task;
  const seen = [first];
  on.open("after-a");
  for (const [kill, gate] of [
    ["b", "b"],
    ["c", "after-c"],
    ["d", "after-d"],
  ] as const) {
    const reader = collect(seen.length === 1 ? stream : await on.resume(id, seen.at(-1)?.id as string));
    await on.untilTrail(`in ${kill}`);
    await until(() => foldText([...seen, ...reader.events]).endsWith(`${kill}.`));
    await on.server.kill();
    await reader.broken;
    seen.push(...reader.events);
    on.open(gate);
    await on.start();
  }
  const rest = await on.readEvents(id, seen.at(-1)?.id);
  seen.push(...rest);
  expect(on.trail()).toEqual(["in a", "in b", "in b", "in c", "in c", "in d", "in d"]);
  const body = await on.untilState(id, "completed");
  expect([textOf(body), taskOf(body).artifacts.length]).toEqual([WHOLE, 1]);
  expect(foldText(seen)).toBe(WHOLE);
  expect(isAscending(idsOf(seen))).toBe(true);
  // No chunk was replaced: each came once.
  const pieces = (await on.readEvents(id)).map(summaryOf).filter(event => event.what === "artifact");
  expect(pieces.map(event => event.text).join("")).toBe(WHOLE);
  expect(pieces.filter(event => !event.append)).toHaveLength(1);
});

test("the output of a node that differs after a kill replaces the old one, and nothing else", async () => {
  await start(
    `
    const say = words => ({ messages: [says(words)] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("a", () => { mark("a"); return say("kept "); })
      .addNode("b", async (state, config) => {
        const attempt = existsSync(${JSON.stringify("FOLDER/second")}) ? "second " : "first ";
        await new FakeListChatModel({ responses: [attempt] }).invoke(state.messages, config);
        mark("b");
        await gate("open", config.signal);
        return {};
      })
      .addNode("c", () => say("end"))
      .addEdge(START, "a").addEdge("a", "b").addEdge("b", "c");`.replace("FOLDER/", `${on.folder}/`),
  );
  const id = await on.begin("go");
  await until(async () => textOf(await on.get(id)) === "kept first ");
  await on.server.kill();
  on.open("second", "open");
  await on.start();
  expect(textOf(await on.untilState(id, "completed"))).toBe("kept second end");
  expect(on.trail()).toEqual(["a", "b", "b"]);
  expect(foldText(await on.readEvents(id))).toBe("kept second end");
});

test("a server that is stopped gracefully releases the graph, and it continues", async () => {
  await start(WORK);
  on.open("after-a");
  const id = await on.begin("go");
  await on.untilTrail("in b");
  await until(async () => textOf(await on.get(id)).endsWith("b."));
  await on.server.stop();
  on.open(...GATES);
  await on.start();
  expect(textOf(await on.untilState(id, "completed"))).toBe(WHOLE);
  expect(on.trail()).toEqual(["in a", "in b", "in b", "in c", "in d"]);
});

test("parallel interrupts survive kills, are answered one by one on LangGraph's mount, and no node is repeated", async () => {
  await start(`
    const State = Annotation.Root({ ...MessagesAnnotation.spec, chosen: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) });
    const ask = what => () => { const answer = interrupt({ question: "Which " + what + "?" }); mark(what + " " + answer.choice); return { chosen: [what + ": " + answer.choice] }; };
    const graph = new StateGraph(State)
      .addNode("plan", () => { mark("plan"); return { messages: [says("Planning. ")] }; })
      .addNode("seat", ask("seat")).addNode("meal", ask("meal"))
      .addNode("book", async state => { mark("booking"); await gate("book"); mark("book"); return { messages: [says(state.chosen.toSorted().join(", "))] }; })
      .addEdge(START, "plan").addEdge("plan", "seat").addEdge("plan", "meal").addEdge(["seat", "meal"], "book");`);
  const mount = `${on.url}/a2a/worker`;
  const asked = await langgraphResult(
    mount,
    "message/send",
    langgraphParams("a trip", { contextId: "thread-123" }),
  );
  expect([asked.status.state, asked.contextId]).toEqual(["input-required", "thread-123"]);
  const [question, ...parts] = asked.status.message.parts;
  expect(question.text).toBe("Which seat?\nWhich meal?");
  const ids = parts.map((part: { data: { id: string } }) => part.data.id) as [string, string];
  const answer = (answers: object) =>
    langgraphParams([resume(answers as never)], {
      contextId: "thread-123",
      taskId: `thread-123:${asked.id}`,
    });

  await on.server.kill();
  await on.start();
  expect((await langgraphError(mount, "message/send", answer({ nobody: 1 }))).code).toBe(-32602);
  const partial = await langgraphResult(mount, "message/send", answer({ [ids[0]]: { choice: "window" } }));
  expect([partial.id, partial.status.state]).toEqual([asked.id, "input-required"]);
  await on.server.kill();
  await on.start();
  void langgraphResult(mount, "message/send", answer({ [ids[1]]: { choice: "fish" } })).catch(() => {});
  // The node after both of them begins when their checkpoint is written.
  await on.untilTrail("booking");
  await on.server.kill();
  on.open("book");
  await on.start();
  const body = await on.untilState(asked.id, "completed");
  expect(textOf(body)).toBe("Planning. meal: fish, seat: window");
  expect([on.trail()[0], ...on.trail().slice(1, 3).toSorted(), ...on.trail().slice(3)]).toEqual([
    "plan",
    "meal fish",
    "seat window",
    "booking",
    "booking",
    "book",
  ]);
});

test("a text answers one interrupt, in any dialect, after a kill; contexts are separate", async () => {
  await start(`
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", state => ({ messages: [says(state.messages.length + " " + interrupt("Which colour?"))] }))
      .addEdge(START, "ask");`);
  const mine = taskOf(await on.send("mine", { contextId: "mine" }));
  const other = taskOf(await on.send("other", { contextId: "other" }));
  await on.server.kill();
  await on.start();
  const v03 = await langgraphResult(
    `${on.url}/a2a/worker`,
    "message/send",
    langgraphParams("blue", { contextId: "mine", taskId: mine.id }),
  );
  expect(partsText(v03.artifacts[0].parts)).toBe("1 blue");
  const next = taskOf(await on.send("again", { contextId: "mine" }));
  expect(textOf(await on.send("red", { taskId: next.id }))).toBe("3 red");
  expect(textOf(await on.send("green", { taskId: other.id }))).toBe("1 green");
});

test("one node may ask repeatedly; each answer counts for one question, as text or as a list", async () => {
  await start(`
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", () => ({ messages: [says([interrupt("A?"), interrupt("B?"), interrupt("C?")].join(" "))] }))
      .addEdge(START, "ask");`);
  const { id, contextId } = taskOf(await on.send("go"));
  const second = await on.send("one", { taskId: id });
  expect([stateOf(second), partsText(taskOf(second).status.message.parts)]).toEqual(["input-required", "B?"]);
  const [ask] = taskOf(second).status.message.parts.slice(1);
  const mount = `${on.url}/a2a/worker`;
  const more = langgraphParams([resume({ [ask.data.id]: "two" })], { contextId, taskId: id });
  expect((await langgraphResult(mount, "message/send", more)).status.state).toBe("input-required");
  expect(textOf(await on.send("three", { taskId: id }))).toBe("one two three");
});

test("a node that throws fails the task, and the next message of the context begins with the state of the graph", async () => {
  await start(`
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("work", state => {
        if (lastOf(state) === "fail") throw new Error("the key is hunter2");
        return { messages: [says("heard " + state.messages.filter(one => one.type === "human").length)] };
      })
      .addEdge(START, "work");`);
  const contextId = "c";
  expect(textOf(await on.send("one", { contextId }))).toBe("heard 1");
  const failed = await on.send("fail", { contextId });
  expect([stateOf(failed), JSON.stringify(failed).includes("hunter2")]).toEqual(["failed", false]);
  expect(on.server.stderr()).toContain("hunter2");
  expect(textOf(await on.send("three", { contextId }))).toBe("heard 3");
});
