import { type Field, fieldsOf, type Rpc, rpcsOf } from "../protobuf/schema.ts";
import type { ApiForm } from "./description.ts";
import { constant, type JsonSchema, OBJECT, object, type Properties, ref, TEXT } from "./json-schema.ts";

/** The types of a schema that are not messages, in JSON. */
const TYPES: Properties = {
  string: TEXT,
  url: { type: "string", format: "uri" },
  bytes: { type: "string", contentEncoding: "base64" },
  bool: { type: "boolean" },
  int32: { type: "integer" },
  int64: { type: "string", pattern: "^\\d+$" },
  count: { type: "integer", minimum: 0 },
  Timestamp: { type: "string", format: "date-time" },
  Struct: OBJECT,
  Value: {},
  Any: { ...OBJECT, required: ["@type"] },
  Empty: OBJECT,
  null: { type: "null" },
};

/** A method with the JSON Schemas of its request and response. */
export interface ApiMethod extends Rpc {
  readonly summary: string;
  readonly required: Properties;
  readonly optional: Properties;
  readonly responseSchema: JsonSchema;
  /** The component of the request, for methods that send a message: generators make a type of it. */
  readonly requestSchema: JsonSchema | undefined;
  readonly example: ApiForm["example"];
}

export interface FormSchemas {
  /** A type of the schema; its component is added when it is used first. */
  schemaOf(type: string): JsonSchema;
  readonly methods: ReadonlyMap<string, ApiMethod>;
}

/** JSON Schemas of the messages of a form. `components`: where they are added. */
export function createFormSchemas(form: ApiForm, components: Record<string, JsonSchema>): FormSchemas {
  const { prefix, schema, constraints = {}, requires = {} } = form;

  function schemaOf(type: string): JsonSchema {
    if (type.endsWith("[]")) return { type: "array", items: schemaOf(type.slice(0, -2)) };
    if (type.startsWith("map<"))
      return { type: "object", additionalProperties: schemaOf(type.slice("map<".length, -1)) };
    if (type.startsWith("'")) return constant(type.slice(1, -1));
    if (TYPES[type]) return TYPES[type];
    const name = `${prefix}${type}`;
    if (!Object.hasOwn(components, name)) {
      // Messages may contain each other.
      components[name] = {};
      components[name] = define(type);
    }
    return ref(name);
  }

  function define(type: string): JsonSchema {
    // The first value of an enum means that none was set.
    const values = schema.stringEnums?.[type] ?? schema.enums[type]?.slice(1);
    if (values) return { type: "string", enum: values };
    const message = schema.messages[type];
    if (message === undefined) throw new Error(`${prefix} has no type ${type}`);
    if (typeof message === "string") return { anyOf: message.split(" | ").map(schemaOf) };
    const { required, optional } = propertiesOf(type);
    const oneof = fieldsOf(schema, type).filter(field => field.oneof);
    const either = oneof.length > 0 && { oneOf: oneof.map(field => ({ required: [field.name] })) };
    return { ...object(required, optional), ...either, ...constraints[type] };
  }

  function propertiesOf(message: string, needed: readonly string[] = []) {
    const required: Record<string, JsonSchema> = {};
    const optional: Record<string, JsonSchema> = {};
    for (const field of fieldsOf(schema, message)) {
      const isRequired = field.required || field.alwaysSent || needed.includes(field.name);
      (isRequired ? required : optional)[field.name] = {
        ...fieldSchemaOf(field),
        ...constraints[`${message}.${field.name}`],
        ...(field.description !== undefined && { description: field.description }),
      };
    }
    return { required, optional };
  }

  function fieldSchemaOf({ type, form }: Field): JsonSchema {
    return schemaOf(form === "list" ? `${type}[]` : form === "map" ? `map<${type}>` : type);
  }

  function toMethod(rpc: Rpc): ApiMethod {
    const properties = propertiesOf(rpc.request, requires[rpc.name]);
    const sends = Object.hasOwn(properties.required, "message");
    return {
      ...rpc,
      ...properties,
      summary: form.summaries[rpc.name] ?? rpc.name,
      responseSchema: schemaOf(rpc.response),
      requestSchema: sends ? schemaOf(rpc.request) : undefined,
      example: sends ? form.example : undefined,
    };
  }

  return { schemaOf, methods: new Map(rpcsOf(schema).map(rpc => [rpc.name, toMethod(rpc)])) };
}
