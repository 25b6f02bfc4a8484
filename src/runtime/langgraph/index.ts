/** Agents that are graphs of LangGraph: `export default langgraph(graph, { name: "assistant" })`. */
import type { AgentDefinition } from "../../agent/definition.ts";
import { type LanggraphOptions, toDefinition } from "./definition.ts";
import type { GraphSource } from "./graph.ts";
import { callingFile } from "./library.ts";

export type { LanggraphOptions } from "./definition.ts";
export type { GraphSource } from "./graph.ts";
export type {
  GraphOutput,
  // The former name of GraphOutput.
  GraphOutput as Words,
} from "./task-output.ts";

export const langgraph = (source: GraphSource, options: LanggraphOptions): AgentDefinition =>
  toDefinition(source, options, callingFile());
