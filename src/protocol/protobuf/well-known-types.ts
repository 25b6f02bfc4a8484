import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { type FieldType, setMember } from "./field-types.ts";
import { BYTES, FIXED64, type ProtobufReader, tagOf, VARINT } from "./reader.ts";
import type { ProtobufWriter } from "./writer.ts";

/** `google.protobuf.Struct`, `Value` and `Timestamp`, which have JSON forms of their own. */

/** The key of a map entry, and an element of a `ListValue`. */
export const KEY = tagOf(1, BYTES);
const VALUE = tagOf(2, BYTES);

/** A map entry: its key and the value that `read` reads; undefined: the entry has no value. */
export function readEntry(
  reader: ProtobufReader,
  valueTag: number,
  read: (previous: Json | undefined) => Json,
): readonly [key: string, value: Json | undefined] {
  const end = reader.enter();
  let key = "";
  let value: Json | undefined;
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === KEY) key = reader.string();
    else if (tag === valueTag) value = read(value);
    else reader.skip(tag);
  }
  reader.leave(end);
  return [key, value];
}

/** The fields of `Value`: JSON takes a message for each of its values. */
const NULL = tagOf(1, VARINT);
const NUMBER = tagOf(2, FIXED64);
const TEXT = tagOf(3, BYTES);
const BOOL = tagOf(4, VARINT);
const OBJECT = tagOf(5, BYTES);
const LIST = tagOf(6, BYTES);

function readValue(reader: ProtobufReader, previous: Json | undefined): Json {
  const end = reader.enter();
  let value = previous;
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === NULL) {
      reader.int32();
      value = null;
    } else if (tag === NUMBER) value = finite(reader.double());
    else if (tag === TEXT) value = reader.string();
    else if (tag === BOOL) value = reader.bool();
    else if (tag === OBJECT) value = readObject(reader, value);
    else if (tag === LIST) value = readList(reader, value);
    else reader.skip(tag);
  }
  reader.leave(end);
  if (value === undefined) throw new RangeError("Value without a kind");
  return value;
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new RangeError("Not a number of JSON");
}

function readObject(reader: ProtobufReader, previous: Json | undefined): Json {
  const object: JsonObject = isObject(previous) ? previous : {};
  const end = reader.enter();
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag !== KEY) {
      reader.skip(tag);
      continue;
    }
    const [key, value] = readEntry(reader, VALUE, previous => readValue(reader, previous));
    if (value === undefined) throw new RangeError("Value without a kind");
    setMember(object, key, value);
  }
  reader.leave(end);
  return object;
}

function readList(reader: ProtobufReader, previous: Json | undefined): Json {
  const list: Json[] = Array.isArray(previous) ? previous : [];
  const end = reader.enter();
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === KEY) list.push(readValue(reader, undefined));
    else reader.skip(tag);
  }
  reader.leave(end);
  return list;
}

function writeValue(writer: ProtobufWriter, value: Json): void {
  const start = writer.enter();
  // As JSON.stringify has it: NaN is null, and -0 is 0.
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) {
    writer.varint(NULL);
    writer.varint(0);
  } else if (typeof value === "number") {
    writer.varint(NUMBER);
    writer.double(value === 0 ? 0 : value);
  } else if (typeof value === "string") {
    writer.varint(TEXT);
    writer.string(value);
  } else if (typeof value === "boolean") {
    writer.varint(BOOL);
    writer.varint(value ? 1 : 0);
  } else if (Array.isArray(value)) {
    writer.varint(LIST);
    writeList(writer, value);
  } else {
    writer.varint(OBJECT);
    writeObject(writer, value);
  }
  writer.leave(start);
}

function writeObject(writer: ProtobufWriter, value: Json): void {
  if (!isObject(value)) throw new TypeError(`object expected, not ${JSON.stringify(value)}`);
  const start = writer.enter();
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    writer.varint(KEY);
    const entry = writer.enter();
    writer.varint(KEY);
    writer.string(key);
    writer.varint(VALUE);
    writeValue(writer, value[key] as Json);
    writer.leave(entry);
  }
  writer.leave(start);
}

function writeList(writer: ProtobufWriter, value: readonly Json[]): void {
  const start = writer.enter();
  for (const element of value) {
    writer.varint(KEY);
    writeValue(writer, element);
  }
  writer.leave(start);
}

const SECONDS = tagOf(1, VARINT);
const NANOS = tagOf(2, VARINT);
/** The years 1 to 9999, the range of RFC 3339. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;
const NANOS_PER_S = 1e9;

function readTime(reader: ProtobufReader): Json {
  const end = reader.enter();
  let seconds = 0;
  let nanos = 0;
  while (!reader.isAtEnd) {
    const tag = reader.tag();
    if (tag === SECONDS) seconds = reader.int64();
    else if (tag === NANOS) nanos = reader.int32();
    else reader.skip(tag);
  }
  reader.leave(end);
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX || nanos < 0 || nanos >= NANOS_PER_S)
    throw new RangeError("Timestamp out of range");
  const whole = new Date(seconds * 1000).toISOString().slice(0, -5);
  const digits = String(nanos)
    .padStart(9, "0")
    .replace(/(000){1,3}$/, "");
  return digits === "" ? `${whole}Z` : `${whole}.${digits}Z`;
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

function writeTime(writer: ProtobufWriter, value: Json): void {
  const [, whole, fraction = "", zone] = TIME.exec(String(value)) ?? [];
  const ms = Date.parse(`${whole}${zone}`);
  if (Number.isNaN(ms)) throw new TypeError(`timestamp expected, not ${JSON.stringify(value)}`);
  const nanos = Number(fraction.padEnd(9, "0"));
  const start = writer.enter();
  if (ms !== 0) {
    writer.varint(SECONDS);
    writer.int(ms / 1000);
  }
  if (nanos !== 0) {
    writer.varint(NANOS);
    writer.varint(nanos);
  }
  writer.leave(start);
}

const MESSAGE = { wireType: BYTES, defaultValue: undefined, hasNull: false };

export const WELL_KNOWN_TYPES: Readonly<Record<string, FieldType>> = {
  Struct: { ...MESSAGE, read: readObject, write: writeObject },
  Value: { ...MESSAGE, read: readValue, write: writeValue, hasNull: true },
  Timestamp: { ...MESSAGE, read: readTime, write: writeTime },
};
