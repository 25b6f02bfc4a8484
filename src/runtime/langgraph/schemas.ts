/** JSON Schemas of a graph, as far as its definition has them. */
import type { JsonObject } from "../../lib/json.ts";
import type { StateSchemas } from "../../ports/index.ts";
import { isRecord } from "../shared/options.ts";
import type { Graph } from "./graph.ts";

/** Members of `StateGraph` that hold schemas. */
interface GraphBuilder {
  readonly _schemaDefinitions?: ReadonlyMap<unknown, Readonly<Record<string, unknown>>>;
  readonly _schemaDefinition?: unknown;
  readonly _inputDefinition?: unknown;
  readonly _outputDefinition?: unknown;
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _outputRuntimeDefinition?: unknown;
  readonly _configRuntimeSchema?: unknown;
}

/** The text of a schema library's own conversion to JSON Schema. */
interface ConvertibleSchema {
  readonly toJSONSchema?: (options?: object) => unknown;
  readonly "~standard"?: { readonly jsonSchema?: { input?: (options: object) => unknown } };
}

export function schemasOf({ builder }: Graph): StateSchemas {
  if (!isRecord(builder)) return {};
  const all = builder as unknown as GraphBuilder;
  const keys = (definition: unknown): JsonObject | undefined => {
    const members = all._schemaDefinitions?.get(definition);
    return members && toKeySchema(Object.keys(members));
  };
  const state = convert(all._schemaRuntimeDefinition) ?? keys(all._schemaDefinition);
  const input = convert(all._inputRuntimeDefinition) ?? keys(all._inputDefinition) ?? state;
  const output = convert(all._outputRuntimeDefinition) ?? keys(all._outputDefinition) ?? state;
  const context = convert(all._configRuntimeSchema);
  return {
    ...(input && { input }),
    ...(output && { output }),
    ...(state && { state }),
    ...(context && { config: context, context }),
  };
}

const MESSAGES: JsonObject = {
  type: "array",
  items: {
    type: "object",
    properties: { type: { type: "string" }, content: {}, id: { type: "string" } },
  },
};

/** Channels have no types at run time: only `messages`, by its name, is known to be a list. */
const toKeySchema = (keys: readonly string[]): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(
    keys.filter(key => !key.startsWith("__")).map(key => [key, key === "messages" ? MESSAGES : {}]),
  ),
});

/** Zod 4 and other libraries with Standard JSON Schema convert themselves; undefined: this one does not. */
function convert(schema: unknown): JsonObject | undefined {
  if (!isRecord(schema)) return undefined;
  const { toJSONSchema, "~standard": standard } = schema as ConvertibleSchema;
  try {
    const converted =
      typeof toJSONSchema === "function"
        ? toJSONSchema.call(schema, { unrepresentable: "any", io: "input" })
        : standard?.jsonSchema?.input?.({ target: "draft-2020-12" });
    return isRecord(converted) ? (JSON.parse(JSON.stringify(converted)) as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
