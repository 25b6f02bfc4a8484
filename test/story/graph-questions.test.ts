import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { langgraph } from "../../src/runtime/langgraph/index.ts";
import { createTestServer, type TestTask, taskMatchers } from "../../src/testing/index.ts";
import "../support/task-matchers.ts";

expect.extend(taskMatchers);

/**
 * "taskId: Identifies each individual request within that conversation" (LangSmith, "A2A endpoint in Agent Server"): two
 * tasks of one thread keep their own questions and answers (docs/dialects/langgraph.md).
 */

const State = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<string> });
const lastText = ({ messages }: typeof State.State): string => String(messages.at(-1)?.content);
const graph = new StateGraph(State)
  .addNode("read", state => ({ topic: lastText(state) }))
  .addNode("ask", ({ topic }) => ({
    messages: [{ role: "assistant", content: `${topic}: ${interrupt(`About ${topic}?`)}` }],
  }))
  .addEdge(START, "read")
  .addEdge("read", "ask");

const contextId = "thread-1";
/** A server with the graph, and a caller of LangGraph's dialect. */
async function start(tested: { compile(): Parameters<typeof langgraph>[0] }) {
  const server = await createTestServer(langgraph(tested.compile(), { name: "worker" }));
  onTestFinished(server.close);
  const caller = server.caller({ dialect: "langgraph" });
  return (text: string): Promise<TestTask> => caller.send(text, { contextId });
}

it.each(["first", "second"])("L25: two tasks of a thread wait, and the %s is answered first", async which => {
  const send = await start(graph);
  const tasks = [await send("cats"), await send("dogs")] as const;
  expect(tasks[0]).toAsk("About cats?");
  expect(tasks[1]).toAsk("About dogs?");
  const answers = ["they purr", "they bark"] as const;
  for (const i of which === "first" ? ([0, 1] as const) : ([1, 0] as const))
    expect(await tasks[i].answer(answers[i])).toComplete(`${i ? "dogs" : "cats"}: ${answers[i]}`);
  expect(await send("fish")).toAsk("About fish?");
});

it("a task that waits keeps its question while others of the thread begin and end", async () => {
  const send = await start(graph);
  const first = await send("cats");
  for (const topic of ["dogs", "fish", "birds"])
    expect(await (await send(topic)).answer("fine")).toComplete(`${topic}: fine`);
  expect(await first.answer("they purr")).toComplete("cats: they purr");
});

it("L15: after the answer to one, only the other is listed", async () => {
  const both = new StateGraph(MessagesAnnotation)
    .addNode("one", () => ({ messages: [{ role: "assistant", content: `1 ${interrupt("One?")}` }] }))
    .addNode("two", () => ({ messages: [{ role: "assistant", content: `2 ${interrupt("Two?")}` }] }))
    .addEdge(START, "one")
    .addEdge(START, "two");
  const send = await start(both);
  const asked = await send("go");
  expect(asked).toAsk("One?\nTwo?");
  const [{ id = "" } = {}] = asked.questions;
  const half = await asked.answer({ data: { resume: [{ id, value: "yes" }] } });
  expect(half).toAsk("Two?");
  expect(await half.answer("no")).toComplete("1 yes\n\n2 no");
});
