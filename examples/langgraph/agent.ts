import { langgraph } from "dragoman/langgraph";
import { graph } from "./graph.ts";

/** The only line that is needed. Serve it with `npx dragoman serve agent.ts`, or serve langgraph.json as it is. */
export default langgraph(graph, {
  name: "planner",
  description: "Plans a journey, and asks before it books",
});
