/** The graphs that both servers run. */
import { AIMessageChunk } from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const Steps = Annotation.Root({
  count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
});

/** Two nodes. */
export const steps = new StateGraph(Steps)
  .addNode("one", () => ({ count: 1 }))
  .addNode("two", () => ({ count: 1 }))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .compile();

/** A node that is executed again and again: a checkpoint each time. */
export const loop = new StateGraph(Steps)
  .addNode("again", () => ({ count: 1 }))
  .addEdge(START, "again")
  .addConditionalEdges("again", ({ count }) => (count < 98 ? "again" : "__end__"))
  .compile();

/** A model that answers in 50 chunks. */
export const words = new StateGraph(MessagesAnnotation)
  .addNode("model", async (state, config) => {
    const chunks = Array.from(
      { length: 50 },
      (_, i) => new AIMessageChunk({ content: `word${i} `, id: "ai" }),
    );
    return { messages: [await new FakeStreamingChatModel({ chunks }).invoke(state.messages, config)] };
  })
  .addEdge(START, "model")
  .compile();
