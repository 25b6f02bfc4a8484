import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, expect, it } from "vitest";
import { langgraph } from "../../src/runtime/langgraph/index.ts";
import { rpc } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";
import { partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

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

let server: TestServer;
afterEach(() => server.stop());

type Task = { id: string; status: { message: { parts: [] } } };
let calls = 0;
async function send(text: string, taskId?: string): Promise<object> {
  const message = { role: "user", messageId: `m${++calls}`, contextId: "thread-1", taskId };
  const params = { message: { ...message, parts: [{ kind: "text", text }] } };
  const url = `${server.url}/a2a/worker`;
  return (await rpc(url, "message/send", params, { accept: "application/json" })).body;
}
const ask = async (text: string): Promise<Task> => {
  const body = await send(text);
  expect(stateOf(body)).toBe("input-required");
  return taskOf(body);
};
const questionOf = (task: Task): string => partsText(task.status.message.parts);

it.each(["first", "second"])("L25: two tasks of a thread wait, and the %s is answered first", async which => {
  server = await serve([langgraph(graph.compile(), { name: "worker" })]);
  const tasks = [await ask("cats"), await ask("dogs")] as [Task, Task];
  expect(tasks.map(questionOf)).toEqual(["About cats?", "About dogs?"]);
  const answers: [string, string] = ["they purr", "they bark"];
  for (const i of which === "first" ? [0, 1] : [1, 0]) {
    const done = await send(answers[i] as string, tasks[i]?.id);
    expect([stateOf(done), textOf(done)]).toEqual(["completed", `${i ? "dogs" : "cats"}: ${answers[i]}`]);
  }
  const next = await ask("fish");
  expect(questionOf(next)).toBe("About fish?");
});

it("a task that waits keeps its question while others of the thread begin and end", async () => {
  server = await serve([langgraph(graph.compile(), { name: "worker" })]);
  const first = await ask("cats");
  for (const topic of ["dogs", "fish", "birds"]) {
    const { id } = await ask(topic);
    expect(textOf(await send("fine", id))).toBe(`${topic}: fine`);
  }
  expect(textOf(await send("they purr", first.id))).toBe("cats: they purr");
});

it("L15: after the answer to one, only the other is listed", async () => {
  const both = new StateGraph(MessagesAnnotation)
    .addNode("one", () => ({ messages: [{ role: "assistant", content: `1 ${interrupt("One?")}` }] }))
    .addNode("two", () => ({ messages: [{ role: "assistant", content: `2 ${interrupt("Two?")}` }] }))
    .addEdge(START, "one")
    .addEdge(START, "two");
  server = await serve([langgraph(both.compile(), { name: "worker" })]);
  const asked = await ask("go");
  expect(questionOf(asked)).toBe("One?\nTwo?");
  const [, { data }] = asked.status.message.parts as unknown as [object, { data: { id: string } }];
  const resume = [{ id: data.id, value: "yes" }];
  const message = { role: "user", messageId: "a", contextId: "thread-1", taskId: asked.id };
  const params = { message: { ...message, parts: [{ kind: "data", data: { resume } }] } };
  const { body } = await rpc(`${server.url}/a2a/worker`, "message/send", params, {
    accept: "application/json",
  });
  expect([stateOf(body), questionOf(taskOf(body))]).toEqual(["input-required", "Two?"]);
  const done = await send("no", asked.id);
  expect([stateOf(done), textOf(done)]).toEqual(["completed", "1 yes\n\n2 no"]);
});
