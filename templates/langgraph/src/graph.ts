import { FakeListChatModel } from "@langchain/core/utils/testing";
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** A fake model, to try this offline: use any chat model of LangChain instead. */
const model = new FakeListChatModel({ responses: ["Two nights by the sea, and the train back."] });

const State = Annotation.Root({ ...MessagesAnnotation.spec, approved: Annotation<boolean> });

/** An unchanged graph of LangGraph: it plans, asks the caller, and books. It knows nothing of A2A. */
export const graph = new StateGraph(State)
  .addNode("plan", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode("approve", ({ messages }) => {
    const plan = String(messages.at(-1)?.content);
    const answer: unknown = interrupt({ question: "Shall I book this?", plan });
    return { approved: answer === true || /^y(es)?\b/i.test(String(answer)) };
  })
  .addNode("book", ({ approved }) => ({
    messages: [{ role: "assistant", content: approved ? "It is booked." : "Nothing was booked." }],
  }))
  .addEdge(START, "plan")
  .addEdge("plan", "approve")
  .addEdge("approve", "book")
  .compile();
