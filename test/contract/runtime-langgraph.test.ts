import { graphHead, writeGraph } from "../support/graphs.ts";
import { runtimeContract } from "./runtime.contract.ts";

/** The table of the contract as a graph: the last message selects the node. */
const GRAPH = `
const speaker = new FakeListChatModel({ responses: ["one two three"], sleep: 1 });
/** Fake models lose their usage when they stream. */
class Spender extends FakeStreamingChatModel {
  async *_streamResponseChunks(...words) {
    for await (const chunk of super._streamResponseChunks(...words)) {
      chunk.message.usage_metadata = { input_tokens: 3.5, output_tokens: 2.5, total_tokens: 6 };
      yield chunk;
    }
  }
}
const spender = new Spender({ chunks: [says("sp"), says("ent")] });
const said = words => ({ messages: [says(words)] });
const nodes = {
  stream: async state => ({ messages: [await speaker.invoke(state.messages)] }),
  work: () => { mark("begun"); return said("before "); },
  after: async (state, { signal }) => { await gate("open", signal); return said("after"); },
  wait: () => said("waiting"),
  forever: async (state, { signal }) => { await sleep(2 ** 30, undefined, { signal }).catch(() => mark("stopped")); },
  fail: () => { throw new Error("SECRET"); },
  ask: () => said("You chose " + interrupt("Which colour?")),
  spend: async state => ({ messages: [await spender.invoke(state.messages)] }),
  recall: state => {
    const earlier = state.messages.slice(0, -1).filter(one => one.type === "human").map(one => one.content);
    return said(earlier.join(", ") || "nothing");
  },
  other: () => said("ok"),
};
const graph = new StateGraph(MessagesAnnotation);
for (const [name, run] of Object.entries(nodes)) graph.addNode(name, run);
graph.addConditionalEdges(START, state => (lastOf(state) in nodes ? lastOf(state) : "other"), Object.keys(nodes));
graph.addEdge("work", "after").addEdge("wait", "forever");
`;

runtimeContract({
  name: "LangGraph",
  resumes: true,
  async createAgent(folder, more) {
    const options = JSON.stringify({ name: "tested", separator: "", ...more });
    const text = `${graphHead(folder)}${GRAPH}export default langgraph(graph.compile(), ${options});\n`;
    return { serveArguments: [writeGraph(folder, "tested.ts", text)] };
  },
});
