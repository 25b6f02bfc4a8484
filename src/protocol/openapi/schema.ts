import type { JsonObject } from "../../lib/json.ts";

/** JSON Schema 2020-12, as OpenAPI 3.1 has it, in few words. */

export type Schema = JsonObject;
export type Members = Readonly<Record<string, Schema>>;

export const text: Schema = { type: "string" };
export const count: Schema = { type: "integer", minimum: 0 };
export const flag: Schema = { type: "boolean" };
export const time: Schema = { type: "string", format: "date-time" };
export const url: Schema = { type: "string", format: "uri" };
export const base64: Schema = { type: "string", contentEncoding: "base64" };
export const record: Schema = { type: "object", additionalProperties: true };
export const texts: Schema = { type: "array", items: text };

export const list = (items: Schema): Schema => ({ type: "array", items });
export const some = (items: Schema): Schema => ({ type: "array", items, minItems: 1 });
export const word = (...words: readonly string[]): Schema => ({ type: "string", enum: words });
export const only = (value: string): Schema => ({ type: "string", const: value });
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const told = (description: string, schema: Schema): Schema => ({ ...schema, description });

/** An object with members that must be there and members that may. */
export function object(needed: Members, optional: Members = {}): Schema {
  const required = Object.keys(needed);
  const properties = { ...needed, ...optional };
  return required.length > 0 ? { type: "object", properties, required } : { type: "object", properties };
}

/** An object with exactly one of these members. */
export const oneMember = (members: Members, optional: Members = {}): Schema => ({
  ...object({}, { ...members, ...optional }),
  oneOf: Object.keys(members).map(name => ({ required: [name] })),
});

/** Whatever one of them allows; the same one twice is one. */
export function either(schemas: readonly Schema[]): Schema {
  const single = schemas.flatMap(schema => (isUnion(schema) ? schema.anyOf : [schema]));
  const [first, ...others] = new Map(single.map(schema => [JSON.stringify(schema), schema])).values();
  if (!first) return {};
  return others.length === 0 ? first : { anyOf: [first, ...others] };
}

const isUnion = (schema: Schema): schema is { readonly anyOf: readonly Schema[] } =>
  Array.isArray(schema.anyOf) && Object.keys(schema).length === 1;
