import { writeAgent } from "../support/child.ts";
import { contractAgentBody } from "../support/contract-agent.ts";
import { runtimeContract } from "./runtime.contract.ts";

runtimeContract({
  name: "a function",
  createAgent: async (folder, more) => ({
    serveArguments: [writeAgent(folder, "tested", contractAgentBody(folder), more)],
  }),
});
