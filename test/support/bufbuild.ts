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
import { type Field, fieldsOf, type ProtobufSchema } from "../../src/protocol/protobuf/schema.ts";

export interface Judge {
  decode(bytes: Uint8Array): Json;
  encode(json: string): Buffer;
}

/** Our schemas in a general protobuf library: slower, and independent of ours. */
export function createJudges(schema: ProtobufSchema): (message: string) => Judge {
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
  url: Type.STRING,
  bytes: Type.BYTES,
  bool: Type.BOOL,
  int32: Type.INT32,
  count: Type.INT32,
};

/** The types of Google's own package, and their file. */
const KNOWN = {
  Struct: file_google_protobuf_struct,
  Value: file_google_protobuf_struct,
  Timestamp: file_google_protobuf_timestamp,
  Empty: file_google_protobuf_empty,
  Any: file_google_protobuf_any,
};
const FILES = new Map([...new Set(Object.values(KNOWN))].map(file => [file.proto.name, file]));

/** A package from its table; `nameOf`: the name of a message there. */
function readSchema(schema: ProtobufSchema): { registry: FileRegistry; nameOf: (message: string) => string } {
  const file = create(FileDescriptorProtoSchema, {
    name: `${schema.package}.proto`,
    package: schema.package,
    syntax: "proto3",
    dependency: [...FILES.keys()],
    messageType: Object.keys(schema.messages).map(name => toMessage(schema, name)),
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

const fullName = (schema: ProtobufSchema, name: string): string =>
  Object.hasOwn(KNOWN, name) ? `google.protobuf.${name}` : `${schema.package}.${name}`;

type Init<T> = Partial<Omit<T, "$typeName" | "$unknown">>;
interface MessageInit {
  name: string;
  field: Init<FieldDescriptorProto>[];
  nestedType: MessageInit[];
  oneofDecl: { name: string }[];
  options?: { mapEntry: boolean };
}

function toMessage(schema: ProtobufSchema, name: string): MessageInit {
  const message: MessageInit = { name, field: [], nestedType: [], oneofDecl: [] };
  const fields = fieldsOf(schema, name);
  // The oneof of the schema is the first group.
  if (fields.some(field => field.oneof)) message.oneofDecl.push({ name: "one" });
  for (const field of fields) {
    const { name: jsonName, number } = field;
    if (number === undefined) continue;
    const init = { name: jsonName, jsonName, number, label: Label.OPTIONAL };
    if (field.form === "map") addMap(schema, message, init, field.type);
    else message.field.push({ ...init, ...typeOf(schema, field.type), ...presenceOf(message, field) });
  }
  return message;
}

function typeOf(schema: ProtobufSchema, name: string): Init<FieldDescriptorProto> {
  const scalar = SCALARS[name];
  if (scalar !== undefined) return { type: scalar };
  if (Object.hasOwn(schema.stringEnums ?? {}, name)) return { type: Type.STRING };
  const type = Object.hasOwn(schema.enums, name) ? Type.ENUM : Type.MESSAGE;
  return { type, typeName: `.${fullName(schema, name)}` };
}

function presenceOf(message: MessageInit, field: Field): Init<FieldDescriptorProto> {
  if (field.form === "list") return { label: Label.REPEATED };
  if (field.oneof) return { oneofIndex: 0 };
  if (!field.optional) return {};
  // proto3 has a oneof of one member for a field with presence.
  return { proto3Optional: true, oneofIndex: message.oneofDecl.push({ name: `_${field.name}` }) - 1 };
}

/** Maps in protobuf: a list of entries, of a nested type. */
function addMap(
  schema: ProtobufSchema,
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
