/** Schemas of the data that an agent takes and returns, and the types that follow from them. */
import type { Json, JsonObject } from "../lib/json.ts";
import type { JsonSchemaObject } from "../lib/json-schema-check.ts";

/** Standard Schema (standardschema.dev): the interface of zod, valibot, arktype and others. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Exists in types only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema: the schema as JSON Schema, where the library offers it. */
    readonly jsonSchema?: {
      input(options: { readonly target: string }): Record<string, unknown>;
      output(options: { readonly target: string }): Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A Standard Schema, or JSON Schema 2020-12. */
export type DataSchema = StandardSchema | JsonSchemaObject;

/** What an agent or one of its skills says about its data. */
export interface DeclaredSchemas {
  /**
   * The schema of the data that begins a task: a Standard Schema (zod, valibot, arktype) or JSON Schema. Other data is
   * refused before a run begins, and `task.input` has its type.
   */
  readonly input?: DataSchema | undefined;
  /** The schema of the data that the agent returns: `ctx.output` has its type and checks it. */
  readonly output?: DataSchema | undefined;
  /**
   * JSON Schema of the input for callers; default: that of `input`. Alone it is shown, and not checked. Without a
   * property `messages` the LangGraph mount accepts data only.
   */
  readonly inputSchema?: JsonSchemaObject | undefined;
  /**
   * JSON Schema of the output for callers; default: that of `output`. With one, callers that ask for structured output
   * are accepted.
   */
  readonly outputSchema?: JsonSchemaObject | undefined;
}

type TypesOf<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : never;

/** The type of a checked value: `task.input`. */
export type SchemaOutput<S> = TypeOf<S, "output", JsonObject>;
/** The type of a value before it is checked: the argument of `ctx.output`. */
export type SchemaInput<S> = TypeOf<S, "input", unknown>;

/** `Unknown`: the type where there is no schema, or no certain one. Without `strict`, undefined extends every type: it comes first. */
type TypeOf<S, Direction extends "input" | "output", Unknown> = [S] extends [undefined]
  ? Unknown
  : [DataSchema] extends [S]
    ? Unknown
    : S extends { readonly "~standard": unknown }
      ? TypesOf<S> extends Readonly<Record<Direction, infer Type>>
        ? Type
        : unknown
      : S extends JsonSchemaObject
        ? FromJsonSchema<S>
        : Unknown;

interface JsonTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

/** The type of a JSON Schema that is written out in the definition; of keywords without a type it is `Json`. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer Type extends keyof JsonTypes }
      ? JsonTypes[Type]
      : S extends { readonly type: "array"; readonly items: infer Items }
        ? readonly FromJsonSchema<Items>[]
        : S extends { readonly type: "object"; readonly properties: infer Properties }
          ? Members<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
          : S extends { readonly type: "object" }
            ? JsonObject
            : Json;

type Members<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<
    Properties[Name]
  >;
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromJsonSchema<
    Properties[Name]
  >;
};

export const isStandardSchema = (value: unknown): value is StandardSchema =>
  ((typeof value === "object" && value !== null) || typeof value === "function") && "~standard" in value;
