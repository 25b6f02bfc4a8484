import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import type { Send } from "../../ports/index.ts";
import { readPart as readKindPart } from "./kind-read.ts";
import { bad, checkJson, isObject, member, needObject, readMetadata, readParts } from "./read.ts";

/** What is read in the shape that v0.1 has, and the dialects that grew from it: parts tell their `type`, messages have no id. */

/** Which data a part holds as it is; objects always. */
export type Carries = (data: Json) => boolean;

export type ReadPart = (from: JsonObject, path: string) => Part;

export function readTypeMessage(params: JsonObject, readPart: ReadPart): Send["message"] {
  const from = needObject(params, "message", "");
  if (member(from, "role") !== "user") throw bad("message.role", 'must be "user"');
  return defined<Send["message"]>({
    role: "user" as const,
    parts: readParts(from, "parts", "message", readPart),
    metadata: readMetadata(from, "message"),
  });
}

/** v0.2 only renamed `type` to `kind`; what data may be is the dialect's affair. */
export const createPartReader =
  (carries: Carries): ReadPart =>
  (from, path) => {
    const type = member(from, "type");
    if (type !== "text" && type !== "file" && type !== "data")
      throw bad(`${path}.type`, 'must be "text", "file" or "data"');
    if (type !== "data" || isObject(from.data)) return readKindPart({ ...from, kind: type }, path);
    return readData(from, path, carries);
  };

function readData(from: JsonObject, path: string, carries: Carries): Part {
  const { data } = from;
  if (data === undefined) throw bad(`${path}.data`, "is required");
  if (!carries(data)) throw bad(`${path}.data`, "must be an object or an array");
  checkJson(data, `${path}.data`);
  return defined<Part>({ kind: "data" as const, data, metadata: readMetadata(from, path) });
}
