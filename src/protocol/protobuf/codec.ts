import type { Json, JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { createMessageTypes } from "./message-type.ts";
import { ProtobufReader } from "./reader.ts";
import type { ProtobufSchema } from "./schema.ts";
import { ProtobufWriter } from "./writer.ts";

/** Converts one message between its bytes and its ProtoJSON value. */
export interface Codec {
  /** Throws a `RangeError` if the bytes are invalid. */
  decode(bytes: Uint8Array): JsonObject;
  /** Members that the schema does not have are left out. */
  encode(value: Json): Buffer;
}

/** A `Value` takes three messages per level of JSON; the dialect rejects JSON that is too deep, with a better message. */
const DEPTH_MAX = 4 * LIMITS.jsonDepthMax;

export function createCodecs(schema: ProtobufSchema): (message: string) => Codec {
  const types = createMessageTypes(schema);
  const writer = new ProtobufWriter();
  return name => {
    const type = types.get(name);
    if (!type) throw new Error(`${schema.package} has no message ${name}`);
    return {
      decode: bytes => type.readFields(new ProtobufReader(bytes, DEPTH_MAX), {}),
      encode(value) {
        writer.reset();
        type.writeFields(writer, value);
        return writer.take();
      },
    };
  };
}
