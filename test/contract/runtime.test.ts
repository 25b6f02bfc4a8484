import { writeAgent } from "../support/child.ts";
import { performance } from "../support/performance.ts";
import { runtimeContract } from "./runtime.contract.ts";

runtimeContract({
  name: "a function",
  createAgent: async (folder, more) => ({
    serveArguments: [writeAgent(folder, "tested", performance(folder), more)],
  }),
});
