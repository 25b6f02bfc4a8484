/** JSON Schemas of the interfaces of the admin API. The compiler compares each schema with its interface. */
import type { Json, JsonObject } from "../lib/json.ts";

export interface AnySchema {
  readonly json: JsonObject;
  /** The named schemas that `json` refers to, directly or not. */
  readonly named: Readonly<Record<string, JsonObject>>;
}

/** Of values of the type `T`. */
export interface FieldSchema<T> extends AnySchema {
  /** Never set: `T` has to be the same type, neither wider nor narrower. */
  readonly only?: (value: T) => T;
}

const plain = <T>(json: JsonObject): FieldSchema<T> => ({ json, named: {} });

export const text = plain<string>({ type: "string" });
export const flag = plain<boolean>({ type: "boolean" });
export const integer = plain<number>({ type: "integer" });
export const number = plain<number>({ type: "number" });
export const time = plain<number>({
  type: "integer",
  description: "Milliseconds since 1970-01-01 UTC",
});
export const duration = plain<number>({ type: "number", description: "Milliseconds" });
export const anyJson = plain<Json>({});
export const anyObject = plain<JsonObject>({ type: "object" });

export const choice = <T extends string>(values: readonly T[]): FieldSchema<T> =>
  plain({ type: "string", enum: values });

export const nullable = <T>({ json, named }: FieldSchema<T>): FieldSchema<T | null> => ({
  json: { anyOf: [json, { type: "null" }] },
  named,
});

export const list = <T>({ json, named }: FieldSchema<T>): FieldSchema<readonly T[]> => ({
  json: { type: "array", items: json },
  named,
});

/** An object with any names. */
export const record = <K extends string, T>({
  json,
  named,
}: FieldSchema<T>): FieldSchema<Readonly<Record<K, T>>> => ({
  json: { type: "object", additionalProperties: json },
  named,
});

type Members<T> = { readonly [K in keyof T]-?: FieldSchema<Exclude<T[K], undefined>> };
type OptionalKeys<T> = {
  [K in keyof T]-?: undefined extends T[K] ? K : never;
}[keyof T] &
  string;

/** `T` has to be given: the members are those of the interface, all of them and no other. */
export function object<T extends object>(
  members: Members<T>,
  ...optional: readonly OptionalKeys<T>[]
): FieldSchema<T> {
  const all = Object.entries(members) as [string, AnySchema][];
  return {
    json: {
      type: "object",
      properties: Object.fromEntries(all.map(([name, { json }]) => [name, json])),
      required: all.map(([name]) => name).filter(name => !(optional as readonly string[]).includes(name)),
    },
    named: Object.assign({}, ...all.map(([, { named }]) => named)) as AnySchema["named"],
  };
}

/** A schema of its own in the document. */
export const name = <T>(title: string, { json, named }: FieldSchema<T>): FieldSchema<T> => ({
  json: reference(title).json,
  named: { ...named, [title]: json },
});

/** To a schema that contains itself. */
export const reference = <T>(title: string): FieldSchema<T> =>
  plain({ $ref: `#/components/schemas/${title}` });
