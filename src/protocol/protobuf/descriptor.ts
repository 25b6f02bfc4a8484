/** The descriptors of schemas (`google/protobuf/descriptor.proto`), for clients that ask the server for them. */
import type { JsonObject } from "../../lib/json.ts";
import { createCodecs } from "./codec.ts";
import { type Field, fieldsOf, type ProtobufSchema, rpcsOf } from "./schema.ts";

const DESCRIPTOR: ProtobufSchema = {
  package: "google.protobuf",
  service: "",
  rpcs: {},
  enums: {},
  messages: {
    FileDescriptorProto: {
      name: "string 1",
      package: "string 2",
      dependency: "string[] 3",
      messageType: "DescriptorProto[] 4",
      enumType: "EnumDescriptorProto[] 5",
      service: "ServiceDescriptorProto[] 6",
      syntax: "string 12",
    },
    DescriptorProto: {
      name: "string 1",
      field: "FieldDescriptorProto[] 2",
      nestedType: "DescriptorProto[] 3",
      options: "MessageOptions 7",
      oneofDecl: "OneofDescriptorProto[] 8",
    },
    MessageOptions: { mapEntry: "bool 7" },
    FieldDescriptorProto: {
      name: "string 1",
      number: "int32 3",
      label: "int32 4",
      type: "int32 5",
      typeName: "string 6",
      oneofIndex: "int32? 9",
      jsonName: "string 10",
      proto3Optional: "bool 17",
    },
    OneofDescriptorProto: { name: "string 1" },
    EnumDescriptorProto: { name: "string 1", value: "EnumValueDescriptorProto[] 2" },
    EnumValueDescriptorProto: { name: "string 1", number: "int32? 2" },
    ServiceDescriptorProto: { name: "string 1", method: "MethodDescriptorProto[] 2" },
    MethodDescriptorProto: {
      name: "string 1",
      inputType: "string 2",
      outputType: "string 3",
      clientStreaming: "bool 5",
      serverStreaming: "bool 6",
    },
  },
};

/** A file of definitions, and the names that it defines. */
export interface ProtobufFile {
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly symbols: readonly string[];
  readonly bytes: Buffer;
}

/** The files of `google.protobuf` that schemas refer to, by the name of the message. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  Struct: "google/protobuf/struct.proto",
  Value: "google/protobuf/struct.proto",
  Timestamp: "google/protobuf/timestamp.proto",
  Empty: "google/protobuf/empty.proto",
};

const LABEL_ONE = 1;
const LABEL_LIST = 3;
const TYPE_MESSAGE = 11;
const TYPE_ENUM = 14;
const SCALAR_TYPES: Readonly<Record<string, number>> = {
  double: 1,
  int64: 3,
  int32: 5,
  count: 5,
  bool: 8,
  string: 9,
  url: 9,
  bytes: 12,
};

/** `name`: of the file. `clientStreams`: the methods are streams of requests, too. */
export function createFile(schema: ProtobufSchema, name: string, clientStreams = false): ProtobufFile {
  const messages = Object.keys(schema.messages).filter(one => typeof schema.messages[one] === "object");
  const dependencies = findDependencies(schema, messages, name);
  const service = schema.service === "" ? [] : [describeRpcs(schema, clientStreams)];
  const value: JsonObject = {
    name,
    package: schema.package,
    dependency: dependencies,
    messageType: messages.map(message => toMessage(schema, message)),
    enumType: Object.entries(schema.enums).map(([one, values]) => toEnum(one, values)),
    service,
    syntax: "proto3",
  };
  const names = [...messages, ...Object.keys(schema.enums), ...(service.length > 0 ? [schema.service] : [])];
  const methods = Object.keys(schema.rpcs).map(rpc => `${schema.service}.${rpc}`);
  const symbols = [...names, ...methods].map(one => `${schema.package}.${one}`);
  const bytes = createCodecs(DESCRIPTOR)("FileDescriptorProto").encode(value);
  return { name, dependencies, symbols, bytes };
}

function findDependencies(
  schema: ProtobufSchema,
  messages: readonly string[],
  own: string,
): readonly string[] {
  const fields = messages.flatMap(message => fieldsOf(schema, message).filter(isNumbered));
  const types = [...fields.map(({ type }) => type), ...rpcsOf(schema).map(({ response }) => response)];
  const files = types.filter(type => !(type in schema.messages)).map(type => WELL_KNOWN[type]);
  return [...new Set(files)].filter((file): file is string => file !== undefined && file !== own);
}

const isNumbered = (field: Field): field is Field & { number: number } => field.number !== undefined;

function toMessage(schema: ProtobufSchema, message: string): JsonObject {
  const fields = fieldsOf(schema, message).filter(isNumbered);
  const isOneof = fields.some(({ oneof }) => oneof);
  const optional = fields.filter(field => field.optional).map(({ name }) => name);
  const oneofs = [...(isOneof ? [oneofOf(schema)] : []), ...optional.map(name => `_${toSnake(name)}`)];
  return {
    name: message,
    field: fields.map(field => ({
      ...toField(schema, message, field),
      ...(field.oneof && { oneofIndex: 0 }),
      ...(field.optional && {
        oneofIndex: optional.indexOf(field.name) + (isOneof ? 1 : 0),
        proto3Optional: true,
      }),
    })),
    nestedType: fields.filter(({ form }) => form === "map").map(field => toEntry(schema, field)),
    oneofDecl: oneofs.map(name => ({ name })),
  };
}
/** Schemas do not name the oneof of a message; on the wire and in JSON it has no name. Libraries know that of `Value`. */
const oneofOf = (schema: ProtobufSchema): string =>
  schema.package === DESCRIPTOR.package ? "kind" : "content";

function toField(schema: ProtobufSchema, message: string, field: Field & { number: number }): JsonObject {
  const { name, number, form } = field;
  const type =
    form === "map"
      ? { type: TYPE_MESSAGE, typeName: `.${schema.package}.${message}.${toEntryName(name)}` }
      : toType(schema, field.type);
  const label = form === "one" ? LABEL_ONE : LABEL_LIST;
  return { name: toSnake(name), number, label, ...type, jsonName: name };
}

function toEntry(schema: ProtobufSchema, { name, type }: Field): JsonObject {
  const key = { name: "key", number: 1, label: LABEL_ONE, type: SCALAR_TYPES.string as number };
  const value = { name: "value", number: 2, label: LABEL_ONE, ...toType(schema, type) };
  return { name: toEntryName(name), field: [key, value], options: { mapEntry: true } };
}

function toType(schema: ProtobufSchema, type: string): JsonObject {
  const scalar = schema.stringEnums?.[type] ? SCALAR_TYPES.string : SCALAR_TYPES[type];
  if (scalar !== undefined) return { type: scalar };
  if (type in schema.enums) return { type: TYPE_ENUM, typeName: `.${schema.package}.${type}` };
  return { type: TYPE_MESSAGE, typeName: toTypeName(schema, type) };
}

const toTypeName = (schema: ProtobufSchema, type: string): string =>
  type in schema.messages || WELL_KNOWN[type] === undefined
    ? `.${schema.package}.${type}`
    : `.google.protobuf.${type}`;

const toEnum = (name: string, values: readonly string[]): JsonObject => ({
  name,
  value: values.map((value, number) => ({ name: value, number })),
});

const describeRpcs = (schema: ProtobufSchema, clientStreaming: boolean): JsonObject => ({
  name: schema.service,
  method: rpcsOf(schema).map(({ name, request, response, streams }) => ({
    name,
    inputType: toTypeName(schema, request),
    outputType: toTypeName(schema, response),
    clientStreaming,
    serverStreaming: streams,
  })),
});

const toSnake = (name: string): string => name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
const toEntryName = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Entry`;

const wellKnown = (
  messages: ProtobufSchema["messages"],
  enums: ProtobufSchema["enums"] = {},
): ProtobufSchema => ({
  package: "google.protobuf",
  service: "",
  rpcs: {},
  enums,
  messages,
});

/** Clients ask for the files that a file depends on, too. */
export const createWellKnownFiles = (): readonly ProtobufFile[] => [
  createFile(
    wellKnown(
      {
        Struct: { fields: "map<Value> 1" },
        Value: {
          nullValue: "NullValue| 1",
          numberValue: "double| 2",
          stringValue: "string| 3",
          boolValue: "bool| 4",
          structValue: "Struct| 5",
          listValue: "ListValue| 6",
        },
        ListValue: { values: "Value[] 1" },
      },
      { NullValue: ["NULL_VALUE"] },
    ),
    "google/protobuf/struct.proto",
  ),
  createFile(
    wellKnown({ Timestamp: { seconds: "int64 1", nanos: "int32 2" } }),
    "google/protobuf/timestamp.proto",
  ),
  createFile(wellKnown({ Empty: {} }), "google/protobuf/empty.proto"),
];
