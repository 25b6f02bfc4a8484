import type { Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { createMessages } from "./message.ts";
import { Reader } from "./reader.ts";
import type { Schema } from "./schema.ts";
import { Writer } from "./writer.ts";

/** One message: its bytes to its ProtoJSON, which is what dialects read, and back. */
export interface Codec {
  decode(bytes: Uint8Array): Json;
  /** What a dialect says beyond its definition has no number, and is not said. */
  encode(json: string): Buffer;
}

/** Free JSON takes three messages for each of its levels; whoever is too deep hears so from the dialect. */
const LEVELS_MAX = 4 * LIMITS.jsonDepthMax;

export function createCodecs(schema: Schema): (message: string) => Codec {
  const messages = createMessages(schema);
  const writer = new Writer();
  return name => {
    const message = messages.get(name);
    if (!message) throw new Error(`there is no message ${name} in ${schema.package}`);
    return {
      decode: bytes => message.readAll(new Reader(bytes, LEVELS_MAX), {}),
      encode(json) {
        writer.reset();
        message.writeAll(writer, JSON.parse(json));
        return writer.take();
      },
    };
  };
}
