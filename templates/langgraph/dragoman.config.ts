import { defineConfig } from "dragoman";

export default defineConfig({
  agents: [
    {
      runtime: "langgraph",
      name: "planner",
      description: "Plans a journey, and asks before it books",
      graph: "./src/graph.ts:graph",
    },
  ],
});
