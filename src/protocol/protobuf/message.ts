import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { createEnum, type Kind, put, SCALARS } from "./kinds.ts";
import { KEY, KNOWN, readEntry } from "./known.ts";
import { BYTES, type Reader, tagOf, VARINT } from "./reader.ts";
import { type FieldSpec, fieldsOf, type Schema } from "./schema.ts";
import type { Writer } from "./writer.ts";

interface Field extends FieldSpec {
  readonly kind: Kind;
  readonly tag: number;
}

const tagOfValue = (kind: Kind): number => tagOf(2, kind.wire);

/** A message of a schema; the JSON of it is an object with the fields that there are. */
export class Message implements Kind {
  readonly wire = BYTES;
  readonly empty = undefined;
  readonly hasNull = false;
  #fields: readonly Field[] = [];
  #byTag: ReadonlyMap<number, Field> = new Map();
  /** Of these there is one: the last that was said. */
  #rivals: readonly string[] = [];

  /** Messages may hold each other, so that there must be all of them before the fields of one are known. */
  fill(fields: readonly Field[]): void {
    this.#fields = fields;
    this.#byTag = new Map(fields.map(field => [field.tag, field]));
    this.#rivals = fields.filter(field => field.exclusive).map(field => field.name);
  }

  read(reader: Reader, before: Json | undefined): Json {
    const outer = reader.enter();
    const object = this.readAll(reader, isObject(before) ? before : {});
    reader.leave(outer);
    return object;
  }

  write(writer: Writer, value: Json): void {
    const start = writer.enter();
    this.writeAll(writer, value);
    writer.leave(start);
  }

  /** To the end of what there is. */
  readAll(reader: Reader, into: JsonObject): JsonObject {
    const object = into as Record<string, Json>;
    while (!reader.isOver) {
      const tag = reader.tag();
      const field = this.#byTag.get(tag);
      if (field) this.#readField(reader, field, object);
      else reader.skip(tag);
    }
    return object;
  }

  writeAll(writer: Writer, value: Json): void {
    if (!isObject(value)) throw new TypeError(`an object expected, not ${JSON.stringify(value)}`);
    for (const field of this.#fields) {
      const said = value[field.name];
      if (said !== undefined && (said !== null || field.kind.hasNull)) writeField(writer, field, said);
    }
  }

  #readField(reader: Reader, field: Field, object: Record<string, Json>): void {
    const { name, kind, form } = field;
    const before = object[name];
    if (form === "list") {
      const one = kind.read(reader, undefined);
      if (before) (before as Json[]).push(one);
      else object[name] = [one];
    } else if (form === "map") {
      const [key, value] = readEntry(reader, tagOfValue(kind), known => kind.read(reader, known));
      put((object[name] ??= {}) as JsonObject, key, value ?? kind.empty ?? {});
    } else {
      if (field.exclusive) this.#dropRivals(name, object);
      const value = kind.read(reader, before);
      if (value !== kind.empty || isTold(field)) object[name] = value;
      else if (before !== undefined) delete object[name];
    }
  }

  #dropRivals(name: string, object: Record<string, Json>): void {
    for (const rival of this.#rivals) if (rival !== name && object[rival] !== undefined) delete object[rival];
  }
}

/** Whether it is said even if it is empty. */
const isTold = (field: Field): boolean => field.optional || field.exclusive;

function writeField(writer: Writer, field: Field, value: Json): void {
  const { kind, tag, form } = field;
  if (form === "list")
    for (const one of value as readonly Json[]) {
      writer.varint(tag);
      kind.write(writer, one);
    }
  else if (form === "map") writeMap(writer, field, value as JsonObject);
  else if (value !== kind.empty || isTold(field)) {
    writer.varint(tag);
    kind.write(writer, value);
  }
}

function writeMap(writer: Writer, { kind, tag }: Field, value: JsonObject): void {
  for (const key of Object.keys(value)) {
    writer.varint(tag);
    const entry = writer.enter();
    writer.varint(KEY);
    writer.text(key);
    writer.varint(tagOfValue(kind));
    kind.write(writer, value[key] as Json);
    writer.leave(entry);
  }
}

/** All messages of a schema, by their names. */
export function createMessages(schema: Schema): ReadonlyMap<string, Message> {
  const messages = new Map(Object.keys(schema.messages).map(name => [name, new Message()]));
  messages.set("Empty", new Message());
  const kinds: Record<string, Kind> = { ...SCALARS, ...KNOWN, Any: createAny(schema.package, messages) };
  for (const [name, values] of Object.entries(schema.enums)) kinds[name] = createEnum(values);
  for (const [name, message] of messages) kinds[name] = message;
  for (const [name, message] of messages)
    message.fill(
      fieldsOf(schema, name).map(spec => {
        const kind = kinds[spec.type];
        // Lists of numbers would be packed, and nobody has any.
        if (!kind || (spec.form === "list" && kind.wire === VARINT))
          throw new Error(`${schema.package}.${name}.${spec.name} cannot be of the type ${spec.type}`);
        return { ...spec, kind, tag: tagOf(spec.number, spec.form === "one" ? kind.wire : BYTES) };
      }),
    );
  return messages;
}

const TYPE_URL = tagOf(1, BYTES);
const CONTENT = tagOf(2, BYTES);

/** A message that says itself what it is. Of one that is not of this package only that is told. */
function createAny(packageName: string, messages: ReadonlyMap<string, Message>): Kind {
  const messageOf = (url: string): Message | undefined => {
    const name = url.slice(url.lastIndexOf("/") + 1);
    return name.startsWith(`${packageName}.`) ? messages.get(name.slice(packageName.length + 1)) : undefined;
  };
  return {
    wire: BYTES,
    empty: undefined,
    hasNull: false,
    read(reader) {
      const outer = reader.enter();
      let url = "";
      let content: Json = {};
      while (!reader.isOver) {
        const tag = reader.tag();
        if (tag === TYPE_URL) url = reader.text();
        else if (tag === CONTENT && messageOf(url))
          content = (messageOf(url) as Message).read(reader, undefined);
        else reader.skip(tag);
      }
      reader.leave(outer);
      return { "@type": url, ...(content as JsonObject) };
    },
    write(writer, value) {
      const url = isObject(value) ? value["@type"] : undefined;
      const message = typeof url === "string" ? messageOf(url) : undefined;
      if (!message) throw new TypeError(`no type that is known: ${url}`);
      const start = writer.enter();
      writer.varint(TYPE_URL);
      writer.text(url as string);
      writer.varint(CONTENT);
      message.write(writer, value);
      writer.leave(start);
    },
  };
}
