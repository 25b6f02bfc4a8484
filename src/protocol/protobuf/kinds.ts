import type { Json, JsonObject } from "../../lib/json.ts";
import { BYTES, type Reader, VARINT } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** What a field can hold, and how that stands on the wire and in JSON. */
export interface Kind {
  readonly wire: number;
  /** `before`: what the field holds already; a message that comes in parts is put together. */
  read(reader: Reader, before: Json | undefined): Json;
  /** Throws if the value is none of this kind. */
  write(writer: Writer, value: Json): void;
  /** What is not said if it need not be; messages are always said. */
  readonly empty: Json | undefined;
  /** Whether JSON's null is one of its values, and not the absence of any. */
  readonly hasNull: boolean;
}

const TEXT: Kind = {
  wire: BYTES,
  empty: "",
  hasNull: false,
  read: reader => reader.text(),
  write: (writer, value) => writer.text(need(value, "string")),
};

const RAW: Kind = {
  wire: BYTES,
  empty: "",
  hasNull: false,
  read: reader => reader.base64(),
  write: (writer, value) => writer.bytes(Buffer.from(need(value, "string"), "base64")),
};

const BOOL: Kind = {
  wire: VARINT,
  empty: false,
  hasNull: false,
  read: reader => reader.bool(),
  write: (writer, value) => writer.varint(need(value, "boolean") ? 1 : 0),
};

const INT32: Kind = {
  wire: VARINT,
  empty: 0,
  hasNull: false,
  read: reader => reader.int32(),
  write(writer, value) {
    if ((need(value, "number") | 0) !== value) throw new TypeError(`${value} has no place in 32 bits`);
    writer.int(value);
  },
};

export const SCALARS: Readonly<Record<string, Kind>> = { string: TEXT, bytes: RAW, bool: BOOL, int32: INT32 };

/** A number that has no name is told as it is; a name that has no number is the first, which says nothing. */
export function createEnum(names: readonly string[]): Kind {
  const numbers = new Map(names.map((name, number) => [name, number]));
  return {
    wire: VARINT,
    empty: names[0],
    hasNull: false,
    read(reader) {
      const number = reader.int32();
      return names[number] ?? number;
    },
    write: (writer, value) =>
      writer.int(typeof value === "number" ? value : (numbers.get(value as string) ?? 0)),
  };
}

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

export function need<T extends keyof Types>(value: Json, type: T): Types[T] {
  if (typeof value !== type) throw new TypeError(`${type} expected, not ${JSON.stringify(value)}`);
  return value as Types[T];
}

/** Keys come from others, and one of them is none like the others. */
export function put(object: JsonObject, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else (object as Record<string, Json>)[key] = value;
}
