import type { JsonObject } from "../../lib/json.ts";

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = JsonObject;
export type Properties = Readonly<Record<string, JsonSchema>>;

export const TEXT: JsonSchema = { type: "string" };
export const OBJECT: JsonSchema = { type: "object", additionalProperties: true };

export const constant = (value: string): JsonSchema => ({ type: "string", const: value });
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export function object(required: Properties, optional: Properties = {}): JsonSchema {
  const names = Object.keys(required);
  const properties = { ...required, ...optional };
  return names.length > 0 ? { type: "object", properties, required: names } : { type: "object", properties };
}

/** Merges alternatives; equal ones count once. */
export function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const single = schemas.flatMap(schema => (isUnion(schema) ? schema.anyOf : [schema]));
  const [first = {}, ...others] = new Map(single.map(schema => [JSON.stringify(schema), schema])).values();
  return others.length === 0 ? first : { anyOf: [first, ...others] };
}

const isUnion = (schema: JsonSchema): schema is { readonly anyOf: readonly JsonSchema[] } =>
  Array.isArray(schema.anyOf) && Object.keys(schema).length === 1;
