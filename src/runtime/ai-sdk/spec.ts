/** An agent of the AI SDK that a config names: `{ runtime: "ai-sdk", name: "travel", agent: "./travel.ts:agent" }`. */
import type { Maker } from "../index.ts";
import { wrong } from "../shared/options.ts";
import type { AgentSource } from "./agent.ts";
import { type AiSdkOptions, aiSdk } from "./index.ts";

export const fromSpec: Maker = async ({ runtime: _runtime, agent, ...options }, _folder, load) => {
  if (typeof agent !== "string")
    throw wrong('agent: expected the name of a file and of what it exports, such as "./travel.ts:agent"');
  const { value } = await load(agent);
  return aiSdk(value as AgentSource, options as AiSdkOptions);
};
