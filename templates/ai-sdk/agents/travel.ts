import { jsonSchema, ToolLoopAgent, tool } from "ai";
import { aiSdk } from "dragoman/ai-sdk";
import { mockModel } from "./_model.ts";

const inputSchema = jsonSchema<{ city: string }>({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
});

/** An unchanged agent of the AI SDK: one tool that just runs, and one that needs an approval. */
const travel = new ToolLoopAgent({
  // Any model of the AI SDK, such as "anthropic/claude-sonnet-4.5"; the default is a mock model, to try it offline.
  model: process.env.AI_MODEL ?? mockModel,
  instructions: "You help with travelling.",
  tools: {
    weather: tool({
      description: "The weather in a city",
      inputSchema,
      execute: async ({ city }) => `It is sunny in ${city}.`,
    }),
    book: tool({
      description: "Books a journey to a city",
      inputSchema,
      needsApproval: true,
      execute: async ({ city }) => `Booked: ${city}.`,
    }),
  },
});

export default aiSdk(travel, { name: "travel", description: "Tells the weather and books journeys" });
