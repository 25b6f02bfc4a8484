import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  type FieldDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_any,
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import type { Json } from "../../src/lib/json.ts";
import type { Codec } from "../../src/protocol/protobuf/codec.ts";
import type { Schema } from "../../src/protocol/protobuf/schema.ts";

/** What a library for all of protobuf makes of our schemas: slower, and somebody else's. */
export function createJudges(schema: Schema): (message: string) => Codec {
  const { registry, nameOf } = readSchema(schema);
  const reading = { readUnknownFields: false, recursionLimit: 1_000 };
  const writing = { registry, ignoreUnknownFields: true, recursionLimit: 1_000 };
  return message => {
    const desc = registry.getMessage(nameOf(message)) as DescMessage;
    return {
      decode: bytes => toJson(desc, fromBinary(desc, bytes, reading), { registry }) as Json,
      encode: json => Buffer.from(toBinary(desc, fromJson(desc, JSON.parse(json) as JsonValue, writing))),
    };
  };
}

const SCALARS: Readonly<Record<string, Type>> = {
  string: Type.STRING,
  bytes: Type.BYTES,
  bool: Type.BOOL,
  int32: Type.INT32,
};

/** What Google's own package has, and the file that it is in. */
const KNOWN = {
  Struct: file_google_protobuf_struct,
  Value: file_google_protobuf_struct,
  Timestamp: file_google_protobuf_timestamp,
  Empty: file_google_protobuf_empty,
  Any: file_google_protobuf_any,
};
const FILES = new Map([...new Set(Object.values(KNOWN))].map(file => [file.proto.name, file]));

/** A package made from its table; `nameOf`: how a message is called there. */
function readSchema(schema: Schema): { registry: FileRegistry; nameOf: (message: string) => string } {
  const file = create(FileDescriptorProtoSchema, {
    name: `${schema.package}.proto`,
    package: schema.package,
    syntax: "proto3",
    dependency: [...FILES.keys()],
    messageType: Object.entries(schema.messages).map(([name, fields]) => toMessage(schema, name, fields)),
    enumType: Object.entries(schema.enums).map(([name, values]) => ({
      name,
      value: values.map((value, number) => ({ name: value, number })),
    })),
  });
  return {
    registry: createFileRegistry(file, name => FILES.get(name)),
    nameOf: message => fullName(schema, message),
  };
}

const fullName = (schema: Schema, name: string): string =>
  Object.hasOwn(KNOWN, name) ? `google.protobuf.${name}` : `${schema.package}.${name}`;

type Init<T> = Partial<Omit<T, "$typeName" | "$unknown">>;
interface MessageInit {
  name: string;
  field: Init<FieldDescriptorProto>[];
  nestedType: MessageInit[];
  oneofDecl: { name: string }[];
  options?: { mapEntry: boolean };
}

const SPEC = /^(?:map<(\w+)>|(\w+)(\[\]|\?|\|)?) (\d+)$/;

function toMessage(schema: Schema, name: string, fields: Readonly<Record<string, string>>): MessageInit {
  const message: MessageInit = { name, field: [], nestedType: [], oneofDecl: [] };
  // Fields that exclude each other come first, so that theirs is the first group.
  if (Object.values(fields).some(spec => spec.includes("|"))) message.oneofDecl.push({ name: "one" });
  for (const [jsonName, spec] of Object.entries(fields)) {
    const [, values, type, mark, number] = SPEC.exec(spec) ?? [];
    if (number === undefined)
      throw new Error(`${schema.package}.${name}.${jsonName} cannot be read: ${spec}`);
    const field = { name: jsonName, jsonName, number: Number(number), label: Label.OPTIONAL };
    if (values !== undefined) addMap(schema, message, field, values);
    else message.field.push({ ...field, ...typeOf(schema, type as string), ...markOf(message, field, mark) });
  }
  return message;
}

function typeOf(schema: Schema, name: string): Init<FieldDescriptorProto> {
  const scalar = SCALARS[name];
  if (scalar !== undefined) return { type: scalar };
  const type = Object.hasOwn(schema.enums, name) ? Type.ENUM : Type.MESSAGE;
  return { type, typeName: `.${fullName(schema, name)}` };
}

function markOf(
  message: MessageInit,
  field: { readonly name: string },
  mark: string | undefined,
): Init<FieldDescriptorProto> {
  switch (mark) {
    case "[]":
      return { label: Label.REPEATED };
    case "|":
      return { oneofIndex: 0 };
    case "?":
      // How proto3 says that absence is told from a default: a group with one member.
      return {
        proto3Optional: true,
        oneofIndex: message.oneofDecl.push({ name: `_${field.name}` }) - 1,
      };
    default:
      return {};
  }
}

/** How protobuf has maps: a list of entries, of a type inside the message. */
function addMap(
  schema: Schema,
  message: MessageInit,
  field: { readonly name: string },
  values: string,
): void {
  const name = `${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}Entry`;
  message.nestedType.push({
    name,
    field: [
      { name: "key", jsonName: "key", number: 1, label: Label.OPTIONAL, type: Type.STRING },
      { name: "value", jsonName: "value", number: 2, label: Label.OPTIONAL, ...typeOf(schema, values) },
    ],
    nestedType: [],
    oneofDecl: [],
    options: { mapEntry: true },
  });
  const typeName = `.${fullName(schema, message.name)}.${name}`;
  message.field.push({ ...field, label: Label.REPEATED, type: Type.MESSAGE, typeName });
}
