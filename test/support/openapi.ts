/** The OpenAPI document, and the validation of JSON against it. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Loose } from "./official-dialects.ts";

/** Every path and verb, with its operation. */
export const operationsIn = (api: Loose): readonly { verb: string; path: string; operation: Loose }[] =>
  Object.entries<Loose>(api.paths).flatMap(([path, verbs]) =>
    Object.entries<Loose>(verbs).map(([verb, operation]) => ({
      verb: verb.toUpperCase(),
      path,
      operation,
    })),
  );

/** The parts of cards: a hybrid card has the members of two versions. */
const OPEN = /Agent(?:Card|Capabilities)$|SecurityScheme$/;

/** Validates values against schemas of a document: a member that no schema names is invalid, too. */
export function createJudge(api: Loose): (schema: object, value: unknown) => string {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const components = {
    schemas: Object.fromEntries(
      Object.entries<object>(api.components.schemas).map(([name, schema]) => [
        name,
        OPEN.test(name) ? schema : closed(schema),
      ]),
    ),
  };
  const known = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const key = JSON.stringify(schema);
    const validate = known.get(key) ?? ajv.compile({ allOf: [closed(schema)], components });
    known.set(key, validate);
    return validate(value) ? "" : ajv.errorsText(validate.errors);
  };
}

function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return ("properties" in schema ? { additionalProperties: false, ...inner } : inner) as T;
}
