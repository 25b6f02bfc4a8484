/** Graphs and other agents for tests of the LangGraph API. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { langgraph } from "../../src/runtime/langgraph/index.ts";

const chat = new StateGraph(MessagesAnnotation)
  .addNode("model", async (state, config) => {
    const last = state.messages.at(-1) as BaseMessage;
    const model = new FakeListChatModel({ responses: [`You said ${last.text}`] });
    return { messages: [await model.invoke(state.messages, config)] };
  })
  .addEdge(START, "model");

const approval = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => {
    const answer: unknown = interrupt({ question: "Shall I?" });
    return { messages: [new AIMessage(`The answer is ${JSON.stringify(answer)}`)] };
  })
  .addEdge(START, "ask");

const Steps = Annotation.Root({
  trail: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
const steps = new StateGraph(Steps)
  .addNode("one", (_state, config) => {
    config.writer?.({ progress: 1 });
    return { trail: ["one"] };
  })
  .addNode("two", () => ({ trail: ["two"] }))
  .addEdge(START, "one")
  .addEdge("one", "two");

const slow = new StateGraph(Steps)
  .addNode("wait", async (_state, config) => {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 60_000);
      config.signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(new Error("aborted"));
      });
    });
    return { trail: ["waited"] };
  })
  .addEdge(START, "wait");

const broken = new StateGraph(Steps)
  .addNode("fail", () => {
    throw new Error("a secret cause");
  })
  .addEdge(START, "fail");

export const lgAgents = (): readonly AgentDefinition[] => [
  langgraph(chat.compile(), { name: "chat" }),
  langgraph(approval.compile(), { name: "approval" }),
  langgraph(steps.compile(), { name: "steps" }),
  langgraph(slow.compile(), { name: "slow" }),
  langgraph(broken.compile(), { name: "broken" }),
  agent({
    name: "echo",
    async *run(task, ctx) {
      if (task.text === "ask") return yield ctx.ask("Which one?");
      yield ctx.text("You ");
      yield ctx.text(`said ${task.text}`);
    },
  }),
];
