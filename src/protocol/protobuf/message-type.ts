import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { createEnumType, type FieldType, SCALARS, setMember } from "./field-types.ts";
import { BYTES, type ProtobufReader, tagOf, VARINT } from "./reader.ts";
import { type Field, fieldsOf, type ProtobufSchema } from "./schema.ts";
import { KEY, readEntry, WELL_KNOWN_TYPES } from "./well-known-types.ts";
import type { ProtobufWriter } from "./writer.ts";

/** A field of a message with the type that reads and writes it. */
interface TypedField {
  readonly name: string;
  readonly form: Field["form"];
  readonly type: FieldType;
  readonly tag: number;
  readonly oneof: boolean;
  /** The default value is written and read: absent differs from empty. */
  readonly hasPresence: boolean;
}

const valueTagOf = (type: FieldType): number => tagOf(2, type.wireType);

/** A message of a schema; its JSON is an object with the fields that are set. */
export class MessageType implements FieldType {
  readonly wireType = BYTES;
  readonly defaultValue = undefined;
  readonly hasNull = false;
  #fields: readonly TypedField[] = [];
  #byTag: ReadonlyMap<number, TypedField> = new Map();
  #oneof: readonly string[] = [];

  /** Messages may contain each other, so all of them are created before their fields are set. */
  setFields(fields: readonly TypedField[]): void {
    this.#fields = fields;
    this.#byTag = new Map(fields.map(field => [field.tag, field]));
    this.#oneof = fields.filter(field => field.oneof).map(field => field.name);
  }

  read(reader: ProtobufReader, previous: Json | undefined): Json {
    const end = reader.enter();
    const object = this.readFields(reader, isObject(previous) ? previous : {});
    reader.leave(end);
    return object;
  }

  write(writer: ProtobufWriter, value: Json): void {
    const start = writer.enter();
    this.writeFields(writer, value);
    writer.leave(start);
  }

  readFields(reader: ProtobufReader, into: JsonObject): JsonObject {
    const object = into as Record<string, Json>;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      const field = this.#byTag.get(tag);
      if (field) this.#readField(reader, field, object);
      else reader.skip(tag);
    }
    return object;
  }

  writeFields(writer: ProtobufWriter, value: Json): void {
    if (!isObject(value)) throw new TypeError(`object expected, not ${JSON.stringify(value)}`);
    for (const field of this.#fields) {
      const member = value[field.name];
      if (member !== undefined && (member !== null || field.type.hasNull)) writeField(writer, field, member);
    }
  }

  #readField(reader: ProtobufReader, field: TypedField, object: Record<string, Json>): void {
    const { name, type, form } = field;
    const previous = object[name];
    if (form === "list") {
      const element = type.read(reader, undefined);
      if (previous) (previous as Json[]).push(element);
      else object[name] = [element];
    } else if (form === "map") {
      const [key, value] = readEntry(reader, valueTagOf(type), before => type.read(reader, before));
      setMember((object[name] ??= {}) as JsonObject, key, value ?? type.defaultValue ?? {});
    } else {
      // Of a oneof the last field on the wire counts.
      if (field.oneof)
        for (const other of this.#oneof)
          if (other !== name && object[other] !== undefined) delete object[other];
      const value = type.read(reader, previous);
      if (value !== type.defaultValue || field.hasPresence) object[name] = value;
      else if (previous !== undefined) delete object[name];
    }
  }
}

function writeField(writer: ProtobufWriter, field: TypedField, value: Json): void {
  const { type, tag, form } = field;
  if (form === "list")
    for (const element of value as readonly Json[]) {
      writer.varint(tag);
      type.write(writer, element);
    }
  else if (form === "map") writeMap(writer, field, value as JsonObject);
  else if (value !== type.defaultValue || field.hasPresence) {
    writer.varint(tag);
    type.write(writer, value);
  }
}

function writeMap(writer: ProtobufWriter, { type, tag }: TypedField, value: JsonObject): void {
  for (const key of Object.keys(value)) {
    writer.varint(tag);
    const entry = writer.enter();
    writer.varint(KEY);
    writer.string(key);
    writer.varint(valueTagOf(type));
    type.write(writer, value[key] as Json);
    writer.leave(entry);
  }
}

/** The messages of a schema by name; fields without a number are left out. */
export function createMessageTypes(schema: ProtobufSchema): ReadonlyMap<string, MessageType> {
  const messages = new Map(Object.keys(schema.messages).map(name => [name, new MessageType()]));
  messages.set("Empty", new MessageType());
  const types: Record<string, FieldType> = {
    ...SCALARS,
    ...WELL_KNOWN_TYPES,
    Any: createAnyType(schema.package, messages),
  };
  for (const name of Object.keys(schema.stringEnums ?? {})) types[name] = SCALARS.string as FieldType;
  for (const [name, values] of Object.entries(schema.enums)) types[name] = createEnumType(values);
  for (const [name, message] of messages) types[name] = message;
  for (const [name, message] of messages)
    message.setFields(
      fieldsOf(schema, name).flatMap(field => {
        if (field.number === undefined) return [];
        const type = types[field.type];
        // A list of numbers would be packed; no schema has one.
        if (!type || (field.form === "list" && type.wireType === VARINT))
          throw new Error(`Unsupported type of ${schema.package}.${name}.${field.name}: ${field.type}`);
        return {
          name: field.name,
          form: field.form,
          type,
          tag: tagOf(field.number, field.form === "one" ? type.wireType : BYTES),
          oneof: field.oneof,
          hasPresence: field.optional || field.oneof,
        };
      }),
    );
  return messages;
}

const TYPE_URL = tagOf(1, BYTES);
const CONTENT = tagOf(2, BYTES);

/** `Any`: a message with its type URL. A message of another package is read as the URL alone. */
function createAnyType(packageName: string, messages: ReadonlyMap<string, MessageType>): FieldType {
  const findType = (url: string): MessageType | undefined => {
    const name = url.slice(url.lastIndexOf("/") + 1);
    return name.startsWith(`${packageName}.`) ? messages.get(name.slice(packageName.length + 1)) : undefined;
  };
  return {
    wireType: BYTES,
    defaultValue: undefined,
    hasNull: false,
    read(reader) {
      const end = reader.enter();
      let url = "";
      let content: Json = {};
      while (!reader.isAtEnd) {
        const tag = reader.tag();
        const type = tag === CONTENT ? findType(url) : undefined;
        if (tag === TYPE_URL) url = reader.string();
        else if (type) content = type.read(reader, undefined);
        else reader.skip(tag);
      }
      reader.leave(end);
      return { "@type": url, ...(content as JsonObject) };
    },
    write(writer, value) {
      const url = isObject(value) ? value["@type"] : undefined;
      const type = typeof url === "string" ? findType(url) : undefined;
      if (!type) throw new TypeError(`Unknown @type: ${url}`);
      const start = writer.enter();
      writer.varint(TYPE_URL);
      writer.string(url as string);
      writer.varint(CONTENT);
      type.write(writer, value);
      writer.leave(start);
    },
  };
}
