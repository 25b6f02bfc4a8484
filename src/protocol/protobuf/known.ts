import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { type Kind, put } from "./kinds.ts";
import { BYTES, FIXED64, type Reader, tagOf, VARINT } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** The messages of Google's own package that have a form of their own in JSON. */

/** In an entry of a map, and in a list. */
export const KEY = tagOf(1, BYTES);
const VALUE = tagOf(2, BYTES);

/** What is in an entry of a map: a key, and whatever `read` reads; undefined: nothing was there. */
export function readEntry(
  reader: Reader,
  tagOfValue: number,
  read: (before: Json | undefined) => Json,
): readonly [key: string, value: Json | undefined] {
  const outer = reader.enter();
  let key = "";
  let value: Json | undefined;
  while (!reader.isOver) {
    const tag = reader.tag();
    if (tag === KEY) key = reader.text();
    else if (tag === tagOfValue) value = read(value);
    else reader.skip(tag);
  }
  reader.leave(outer);
  return [key, value];
}

/** Free JSON is a message for each of its values. */
const NULL = tagOf(1, VARINT);
const NUMBER = tagOf(2, FIXED64);
const TEXT = tagOf(3, BYTES);
const BOOL = tagOf(4, VARINT);
const OBJECT = tagOf(5, BYTES);
const LIST = tagOf(6, BYTES);

function readValue(reader: Reader, before: Json | undefined): Json {
  const outer = reader.enter();
  let value = before;
  while (!reader.isOver) {
    const tag = reader.tag();
    if (tag === NULL) {
      reader.int32();
      value = null;
    } else if (tag === NUMBER) value = finite(reader.double());
    else if (tag === TEXT) value = reader.text();
    else if (tag === BOOL) value = reader.bool();
    else if (tag === OBJECT) value = readObject(reader, value);
    else if (tag === LIST) value = readList(reader, value);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (value === undefined) throw new RangeError("a value that is none");
  return value;
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new RangeError("JSON has no such number");
}

function readObject(reader: Reader, before: Json | undefined): Json {
  const object: JsonObject = isObject(before) ? before : {};
  const outer = reader.enter();
  while (!reader.isOver) {
    const tag = reader.tag();
    if (tag !== KEY) {
      reader.skip(tag);
      continue;
    }
    const [key, value] = readEntry(reader, VALUE, known => readValue(reader, known));
    if (value === undefined) throw new RangeError("a value that is none");
    put(object, key, value);
  }
  reader.leave(outer);
  return object;
}

function readList(reader: Reader, before: Json | undefined): Json {
  const list: Json[] = Array.isArray(before) ? before : [];
  const outer = reader.enter();
  while (!reader.isOver) {
    const tag = reader.tag();
    if (tag === KEY) list.push(readValue(reader, undefined));
    else reader.skip(tag);
  }
  reader.leave(outer);
  return list;
}

function writeValue(writer: Writer, value: Json): void {
  const start = writer.enter();
  if (value === null) {
    writer.varint(NULL);
    writer.varint(0);
  } else if (typeof value === "number") {
    writer.varint(NUMBER);
    writer.double(value);
  } else if (typeof value === "string") {
    writer.varint(TEXT);
    writer.text(value);
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

function writeObject(writer: Writer, value: Json): void {
  if (!isObject(value)) throw new TypeError(`an object expected, not ${JSON.stringify(value)}`);
  const start = writer.enter();
  for (const key of Object.keys(value)) {
    writer.varint(KEY);
    const entry = writer.enter();
    writer.varint(KEY);
    writer.text(key);
    writer.varint(VALUE);
    writeValue(writer, value[key] as Json);
    writer.leave(entry);
  }
  writer.leave(start);
}

function writeList(writer: Writer, value: readonly Json[]): void {
  const start = writer.enter();
  for (const one of value) {
    writer.varint(KEY);
    writeValue(writer, one);
  }
  writer.leave(start);
}

const SECONDS = tagOf(1, VARINT);
const NANOS = tagOf(2, VARINT);
/** From the year 1 to the year 9999, as RFC 3339 can say it. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;
const NANOS_PER_S = 1e9;

function readTime(reader: Reader): Json {
  const outer = reader.enter();
  let seconds = 0;
  let nanos = 0;
  while (!reader.isOver) {
    const tag = reader.tag();
    if (tag === SECONDS) seconds = reader.int64();
    else if (tag === NANOS) nanos = reader.int32();
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX || nanos < 0 || nanos >= NANOS_PER_S)
    throw new RangeError("no time that there is");
  const whole = new Date(seconds * 1000).toISOString().slice(0, -5);
  const digits = String(nanos)
    .padStart(9, "0")
    .replace(/(000){1,3}$/, "");
  return digits === "" ? `${whole}Z` : `${whole}.${digits}Z`;
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

function writeTime(writer: Writer, value: Json): void {
  const [, whole, fraction = "", zone] = TIME.exec(String(value)) ?? [];
  const ms = Date.parse(`${whole}${zone}`);
  if (Number.isNaN(ms)) throw new TypeError(`a time expected, not ${JSON.stringify(value)}`);
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

const whole = { wire: BYTES, empty: undefined, hasNull: false };

export const KNOWN: Readonly<Record<string, Kind>> = {
  Struct: { ...whole, read: readObject, write: writeObject },
  Value: { ...whole, read: readValue, write: writeValue, hasNull: true },
  Timestamp: { ...whole, read: readTime, write: writeTime },
};
