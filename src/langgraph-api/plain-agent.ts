/** Agents that are no graphs, as clients of LangGraph see them: one node, and `messages` as the state. */
import type { JsonObject } from "../lib/json.ts";
import type { Agent, StateSchemas } from "../ports/index.ts";

const MESSAGE: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string", enum: ["human", "ai", "system", "tool"] },
    content: { anyOf: [{ type: "string" }, { type: "array", items: { type: "object" } }] },
    id: { type: "string" },
  },
  required: ["type", "content"],
};
const STATE: JsonObject = {
  type: "object",
  properties: { messages: { type: "array", items: MESSAGE } },
};
const EMPTY: JsonObject = { type: "object", properties: {} };

const MESSAGES_SCHEMAS: StateSchemas = {
  input: STATE,
  output: STATE,
  state: STATE,
  config: EMPTY,
  context: EMPTY,
};

/** The schemas of any agent; an agent that is no graph may declare its input, or that of each skill. */
export async function schemasOf({ graph, inputSchema, skillSchemas = {} }: Agent): Promise<StateSchemas> {
  if (graph) return graph.schemas();
  const skills = Object.entries(skillSchemas).flatMap(([title, { input }]) =>
    input ? [{ title, ...input }] : [],
  );
  const all = [...skills, ...(inputSchema ? [inputSchema] : [])];
  if (all.length === 0) return MESSAGES_SCHEMAS;
  return {
    ...MESSAGES_SCHEMAS,
    input: all.length === 1 ? (all[0] as JsonObject) : { type: "object", anyOf: all },
  };
}

const START = "__start__";
const END = "__end__";

export const drawAgent = ({ name }: Agent): JsonObject => ({
  nodes: [
    { id: START, type: "schema", data: START },
    { id: name, type: "runnable", data: { id: ["dragoman", "agent"], name } },
    { id: END, type: "schema", data: END },
  ],
  edges: [
    { source: START, target: name },
    { source: name, target: END },
  ],
});
