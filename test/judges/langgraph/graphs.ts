/** Graphs that both servers of the differential test run, unchanged. */
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";

const textOf = (message: BaseMessage | undefined): string => String(message?.content ?? "");

/** One chunk for each word, all of one message. */
const chunksOf = (text: string, id: string): AIMessageChunk[] =>
  text.split(/(?<= )/).map(content => new AIMessageChunk({ content, id }));

export const chat = new StateGraph(MessagesAnnotation)
  .addNode("model", async (state, config) => {
    const text = `You said ${textOf(state.messages.at(-1))}`;
    const model = new FakeStreamingChatModel({ chunks: chunksOf(text, `ai-${state.messages.length}`) });
    return { messages: [await model.invoke(state.messages, config)] };
  })
  .addEdge(START, "model")
  .compile();

export const approval = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => {
    const answer: unknown = interrupt({ question: "Shall I?" });
    return { messages: [new AIMessage({ id: "ai-1", content: `The answer is ${JSON.stringify(answer)}` })] };
  })
  .addEdge(START, "ask")
  .compile();

const Steps = Annotation.Root({
  trail: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const ask = (name: string) => (): typeof Steps.Update => ({
  trail: [`${name}: ${String(interrupt(`${name}?`))}`],
});

/** Two interrupts at once. */
export const both = new StateGraph(Steps)
  .addNode("left", ask("left"))
  .addNode("right", ask("right"))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .compile();

export const steps = new StateGraph(Steps)
  .addNode("one", (_state, config) => {
    config.writer?.({ progress: 1 });
    return { trail: ["one"] };
  })
  .addNode("two", () => ({ trail: ["two"] }))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .compile();

const inner = new StateGraph(Steps)
  .addNode("deep", (_state, config) => {
    config.writer?.({ progress: "deep" });
    return { trail: ["deep"] };
  })
  .addEdge(START, "deep")
  .compile();

export const nested = new StateGraph(Steps)
  .addNode("outer", () => ({ trail: ["outer"] }))
  .addNode("inner", inner)
  .addEdge(START, "outer")
  .addEdge("outer", "inner")
  .compile();

export const slow = new StateGraph(Steps)
  .addNode("wait", async (_state, config) => {
    await new Promise((_resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("too late")), 60_000);
      config.signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(new Error("aborted"));
      });
    });
    return { trail: ["waited"] };
  })
  .addEdge(START, "wait")
  .compile();

export const broken = new StateGraph(Steps)
  .addNode("fail", () => {
    throw new Error("the cause");
  })
  .addEdge(START, "fail")
  .compile();

const add = tool(({ a, b }: { a: number; b: number }) => String(a + b), {
  name: "add",
  description: "Adds two numbers",
  schema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
});

/** A tool call, its result, and nothing more. */
export const tools = new StateGraph(MessagesAnnotation)
  .addNode("call", () => ({
    messages: [
      new AIMessage({
        id: "ai-call",
        content: "",
        tool_calls: [{ id: "call-1", name: "add", args: { a: 1, b: 2 } }],
      }),
    ],
  }))
  .addNode("tools", new ToolNode([add]))
  .addEdge(START, "call")
  .addEdge("call", "tools")
  .compile();
