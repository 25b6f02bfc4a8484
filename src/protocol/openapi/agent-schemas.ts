import type { Json, JsonObject } from "../../lib/json.ts";
import type { Agent } from "../../ports/index.ts";
import { type JsonSchema, type Properties, ref } from "./json-schema.ts";

/** The schemas of the agents' data as components, such as `agent.weather.input` and `agent.weather.forecast.input`. */
export function toAgentComponents(agents: readonly Agent[]): Properties {
  const named = agents.flatMap(({ name, inputSchema, outputSchema, skillSchemas = {} }) => [
    ...toComponents(`agent.${name}`, inputSchema, outputSchema),
    ...Object.entries(skillSchemas).flatMap(([skill, { input, output }]) =>
      toComponents(`agent.${name}.${skill.replace(/[^\w.-]/g, "_")}`, input, output),
    ),
  ]);
  return Object.fromEntries(named);
}

const toComponents = (
  prefix: string,
  input: JsonObject | undefined,
  output: JsonObject | undefined,
): readonly (readonly [string, JsonSchema])[] => [
  ...(input ? [[`${prefix}.input`, toResource(input, `${prefix}.input`)] as const] : []),
  ...(output ? [[`${prefix}.output`, toResource(output, `${prefix}.output`)] as const] : []),
];

/** With an id of its own, references such as `#/$defs/stop` start at the schema and not at the document. */
function toResource({ $schema: _, ...schema }: JsonObject, name: string): JsonSchema {
  const hasReference = JSON.stringify(schema).includes('"$ref"');
  return hasReference ? { $id: `urn:dragoman:${name}`, ...schema } : schema;
}

/** The data of a part may be anything; these are the inputs that agents check. */
export function withInputs(schemas: Properties, components: Properties): Properties {
  const inputs = Object.keys(components).filter(name => name.endsWith(".input"));
  if (inputs.length === 0) return { ...schemas, ...components };
  const parts = Object.entries(schemas).flatMap(([name, schema]) => {
    const properties = schema.properties as Record<string, Json> | undefined;
    if (!/Part$/.test(name) || properties?.data === undefined) return [];
    const data = { ...(properties.data as JsonObject), anyOf: [...inputs.map(ref), {}] };
    return [[name, { ...schema, properties: { ...properties, data } }] as const];
  });
  return { ...schemas, ...components, ...Object.fromEntries(parts) };
}
