import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { bad, checkJson, member, readBase64, readMetadata, readText } from "./read.ts";

/** Parts as v1.0 has them, and simple_a2a: which content a part has is told by the member that is there. */

const CONTENTS = ["text", "raw", "url", "data"] as const;

/** v1 §4.1.6: exactly one of four; which one it is, is which one is there. `data: null` is a value. */
export function readPart(from: JsonObject, path: string): Part {
  const there = CONTENTS.filter(name =>
    name === "data" ? from.data !== undefined : member(from, name) !== undefined,
  );
  if (there.length !== 1) throw bad(path, "must have exactly one of text, raw, url, data");
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: readText(from, "filename", path) || undefined,
    mediaType: readText(from, "mediaType", path) || undefined,
    metadata: readMetadata(from, path),
  });
  switch (there[0] as (typeof CONTENTS)[number]) {
    case "text":
      return { kind: "text", text: readText(from, "text", path) as string, ...extras };
    case "raw":
      return {
        kind: "bytes",
        bytes: readBase64(readText(from, "raw", path) as string, `${path}.raw`),
        ...extras,
      };
    case "url":
      return { kind: "url", url: needUrl(from, path), ...extras };
    case "data": {
      const data = from.data ?? null;
      checkJson(data, `${path}.data`);
      return { kind: "data", data, ...extras };
    }
  }
}

function needUrl(from: JsonObject, path: string): string {
  const url = readText(from, "url", path) as string;
  if (!URL.canParse(url)) throw bad(`${path}.url`, "must be an absolute URL");
  return url;
}

export function writePart(part: Part): JsonObject {
  const out: Record<string, Json> = writeContent(part);
  if (part.filename !== undefined) out.filename = part.filename;
  if (part.mediaType !== undefined) out.mediaType = part.mediaType;
  if (part.metadata) out.metadata = part.metadata;
  return out;
}

function writeContent(part: Part): Record<string, Json> {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "bytes":
      return { raw: part.bytes };
    case "url":
      return { url: part.url };
    case "data":
      return { data: part.data };
  }
}
