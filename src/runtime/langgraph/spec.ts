/** A graph that a config names: `{ runtime: "langgraph", name: "assistant", graph: "./agent.ts:graph" }`. */
import type { Maker } from "../index.ts";
import { wrong } from "../shared/options.ts";
import { type LanggraphOptions, toDefinition } from "./definition.ts";
import type { GraphSource } from "./graph.ts";

export const fromSpec: Maker = async ({ runtime: _runtime, graph, ...options }, _folder, load) => {
  if (typeof graph !== "string")
    throw wrong('graph: expected the name of a file and of what it exports, such as "./agent.ts:graph"');
  const { value, file } = await load(graph);
  return toDefinition(value as GraphSource, options as LanggraphOptions, file);
};
