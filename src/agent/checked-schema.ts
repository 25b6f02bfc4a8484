/** A schema of an author, ready to check values, with its JSON Schema for callers. */
import type { JsonObject } from "../lib/json.ts";
import { compileJsonSchema, type JsonSchemaObject, type SchemaIssue } from "../lib/json-schema-check.ts";
import { type DataSchema, isStandardSchema, type StandardIssue, type StandardSchema } from "./schema.ts";

export type SchemaResult = { readonly value: unknown } | { readonly issue: SchemaIssue };

export interface CheckedSchema {
  readonly json: JsonObject;
  check(value: unknown): SchemaResult | Promise<SchemaResult>;
}

/** Where a schema stands in a definition. */
export interface SchemaPlace {
  /** "input", or `skills[0].output`. */
  readonly name: string;
  readonly direction: "input" | "output";
}

/** `beside`: the JSON Schema that the author gives for callers. Throws an error for the author. */
export function toCheckedSchema(
  schema: DataSchema,
  beside: JsonSchemaObject | undefined,
  place: SchemaPlace,
): CheckedSchema {
  if (isStandardSchema(schema))
    return {
      json: (beside ?? offeredBy(schema, place)) as JsonObject,
      check: value => validate(schema, value),
    };
  const check = compile(schema, place);
  return {
    json: (beside ?? schema) as JsonObject,
    check(value) {
      const issue = check(value);
      return issue ? { issue } : { value };
    },
  };
}

function compile(schema: JsonSchemaObject, { name }: SchemaPlace): ReturnType<typeof compileJsonSchema> {
  try {
    return compileJsonSchema(schema);
  } catch (error) {
    throw new TypeError(`${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

const TARGET = { target: "draft-2020-12" };

/** The JSON Schema that the library of the schema makes of it. */
function offeredBy(schema: StandardSchema, { name, direction }: SchemaPlace): JsonSchemaObject {
  const { vendor, jsonSchema } = schema["~standard"];
  const remedy = `set ${name}Schema, the JSON Schema that callers see, beside it`;
  if (!jsonSchema)
    throw new TypeError(`${name}: a schema of ${vendor} does not tell its JSON Schema: ${remedy}`);
  try {
    const { $schema: _, ...json } = jsonSchema[direction](TARGET);
    return json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${name}: ${vendor} cannot make a JSON Schema of it (${reason}): ${remedy}`, {
      cause: error,
    });
  }
}

function validate(schema: StandardSchema, value: unknown): SchemaResult | Promise<SchemaResult> {
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(toResult) : toResult(result);
}

type Validated = Awaited<ReturnType<StandardSchema["~standard"]["validate"]>>;

function toResult(result: Validated): SchemaResult {
  if (!result.issues) return { value: result.value };
  const [first] = result.issues;
  return { issue: { path: toPath(first), message: first?.message ?? "is not valid" } };
}

/** A plain array: some libraries have paths of a class of their own. */
const toPath = (issue: StandardIssue | undefined): SchemaIssue["path"] =>
  Array.from(issue?.path ?? [], part => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "number" ? key : String(key);
  });
