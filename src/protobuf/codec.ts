import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { type Json, LIMITS } from "../model/index.ts";
import { readSchema, type Schema } from "./schema.ts";

/** One message: its bytes to its ProtoJSON, which is what dialects read, and back. */
export interface Codec {
  decode(bytes: Uint8Array): Json;
  encode(json: string): Buffer;
}

/** Free JSON takes three messages for each of its levels. */
const recursionLimit = 4 * LIMITS.jsonDepthMax;

export function createCodecs(schema: Schema): (message: string) => Codec {
  const { registry, nameOf } = readSchema(schema);
  const reading = { readUnknownFields: false, recursionLimit };
  // What a dialect says beyond its definition has no number.
  const writing = { registry, ignoreUnknownFields: true, recursionLimit };
  return message => {
    const desc = registry.getMessage(nameOf(message)) as DescMessage;
    return {
      decode: bytes => toJson(desc, fromBinary(desc, bytes, reading), { registry }) as Json,
      encode(json) {
        const value = JSON.parse(json.includes("\\ud") ? mended(json) : json) as JsonValue;
        const bytes = toBinary(desc, fromJson(desc, value, writing));
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      },
    };
  };
}

/** A stream of words may be cut within a character: JSON can say half of it, protobuf cannot. */
const mended = (json: string): string =>
  json.replace(/\\(?:\\|ud[89a-f][\da-f]{2})/g, found => (found === "\\\\" ? found : "\\ufffd"));
