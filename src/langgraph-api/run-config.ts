/** The config and the context of a run: members of the assistant, then of the run. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Assistant } from "./assistant-records.ts";

export interface ConfigurableMembers {
  /** Headers that the caller sends for the graph. */
  readonly headers: JsonObject;
  /** Who the caller is. */
  readonly user: JsonObject;
}

export function toRunConfig(
  assistant: Pick<Assistant, "assistant_id" | "graph_id" | "config">,
  threadId: string,
  config: JsonObject,
  { headers, user }: ConfigurableMembers,
): JsonObject {
  const { assistant_id, graph_id } = assistant;
  const configurable = {
    ...headers,
    ...asObject(assistant.config.configurable),
    ...asObject(config.configurable),
    ...{ assistant_id, graph_id, thread_id: threadId },
    ...user,
  };
  return { ...assistant.config, ...config, configurable };
}

/** undefined: there is none. */
export function toRunContext(
  { context: own }: Pick<Assistant, "context">,
  context: JsonObject | undefined,
): JsonObject | undefined {
  const merged = { ...own, ...context };
  return Object.keys(merged).length > 0 ? merged : undefined;
}

export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
