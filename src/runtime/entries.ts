/** Agents as entries of a config, typed by their runtime. */
import type { AiSdkOptions } from "./ai-sdk/index.ts";
import type { PythonOptions } from "./langgraph/python/index.ts";
import type { OpenAiOptions } from "./openai/index.ts";
import type { ProgramOptions } from "./process/index.ts";
import type { RemoteOptions } from "./remote/index.ts";

/** `{ runtime: "openai", name, … }`: the runtime, and the options of its function. */
export type AgentEntry =
  /** `agent`: the file of the agent and its export, such as "./travel.ts:agent". */
  | ({ readonly runtime: "ai-sdk"; readonly agent: string } & AiSdkOptions)
  /** `graph`: the file of the graph and its name, such as "./graph.ts:graph" or "./agent.py:graph". */
  | ({ readonly runtime: "langgraph"; readonly graph: string } & PythonOptions)
  | ({ readonly runtime: "openai" } & OpenAiOptions)
  | ({ readonly runtime: "process" } & ProgramOptions)
  | ({ readonly runtime: "remote" } & RemoteOptions);
