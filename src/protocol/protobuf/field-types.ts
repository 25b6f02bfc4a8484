import type { Json, JsonObject } from "../../lib/json.ts";
import { BYTES, type ProtobufReader, VARINT } from "./reader.ts";
import type { ProtobufWriter } from "./writer.ts";

/** A type of fields: how its values are on the wire and in JSON. */
export interface FieldType {
  readonly wireType: number;
  /** `previous`: the value so far; a message that occurs twice is merged. */
  read(reader: ProtobufReader, previous: Json | undefined): Json;
  /** Throws a `TypeError` if the value is not of this type. */
  write(writer: ProtobufWriter, value: Json): void;
  /** The value that is not written unless the field has presence; undefined: messages are always written. */
  readonly defaultValue: Json | undefined;
  /** JSON null is a value of this type, not the absence of one. */
  readonly hasNull: boolean;
}

const STRING: FieldType = {
  wireType: BYTES,
  defaultValue: "",
  hasNull: false,
  read: reader => reader.string(),
  write: (writer, value) => writer.string(expectType(value, "string")),
};

/** In JSON: base64. */
const BYTE_STRING: FieldType = {
  wireType: BYTES,
  defaultValue: "",
  hasNull: false,
  read: reader => reader.base64(),
  write: (writer, value) => writer.bytes(Buffer.from(expectType(value, "string"), "base64")),
};

const BOOL: FieldType = {
  wireType: VARINT,
  defaultValue: false,
  hasNull: false,
  read: reader => reader.bool(),
  write: (writer, value) => writer.varint(expectType(value, "boolean") ? 1 : 0),
};

const INT32: FieldType = {
  wireType: VARINT,
  defaultValue: 0,
  hasNull: false,
  read: reader => reader.int32(),
  write(writer, value) {
    if ((expectType(value, "number") | 0) !== value) throw new TypeError(`${value} is not an int32`);
    writer.int(value);
  },
};

/** ProtoJSON: a string of digits. Exact up to 2^53. */
const INT64: FieldType = {
  wireType: VARINT,
  defaultValue: "0",
  hasNull: false,
  read: reader => String(reader.int64()),
  write: (writer, value) => writer.int(Number(expectType(value, "string"))),
};

export const SCALARS: Readonly<Record<string, FieldType>> = {
  string: STRING,
  url: STRING,
  bytes: BYTE_STRING,
  bool: BOOL,
  int32: INT32,
  count: INT32,
  int64: INT64,
};

/** ProtoJSON: an unknown number is read as a number. An unknown name is written as 0, the unspecified value. */
export function createEnumType(names: readonly string[]): FieldType {
  const numbers = new Map(names.map((name, number) => [name, number]));
  return {
    wireType: VARINT,
    defaultValue: names[0],
    hasNull: false,
    read(reader) {
      const number = reader.int32();
      return names[number] ?? number;
    },
    write: (writer, value) =>
      writer.int(typeof value === "number" ? value : (numbers.get(value as string) ?? 0)),
  };
}

interface Primitives {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

function expectType<T extends keyof Primitives>(value: Json, type: T): Primitives[T] {
  if (typeof value !== type) throw new TypeError(`${type} expected, not ${JSON.stringify(value)}`);
  return value as Primitives[T];
}

/** Keys come from callers: assigning to `__proto__` would set the prototype. */
export function setMember(object: JsonObject, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else (object as Record<string, Json>)[key] = value;
}
