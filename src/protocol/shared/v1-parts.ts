import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { checkJson, getMember, invalidField, normalizeBase64, readMetadata, readString } from "./fields.ts";

/** Parts in the shape of v1.0, which simple_a2a shares: the member that is present is the kind of content. */

const CONTENTS = ["text", "raw", "url", "data"] as const;

/** v1 §4.1.6: exactly one of the four is present. `data: null` is a value. */
export function decodeV1Part(from: JsonObject, path: string): Part {
  const present = CONTENTS.filter(name =>
    name === "data" ? from.data !== undefined : getMember(from, name) !== undefined,
  );
  if (present.length !== 1) throw invalidField(path, "must have exactly one of text, raw, url, data");
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: readString(from, "filename", path) || undefined,
    mediaType: readString(from, "mediaType", path) || undefined,
    metadata: readMetadata(from, path),
  });
  switch (present[0] as (typeof CONTENTS)[number]) {
    case "text":
      return { kind: "text", text: readString(from, "text", path) as string, ...extras };
    case "raw":
      return {
        kind: "bytes",
        bytes: normalizeBase64(readString(from, "raw", path) as string, `${path}.raw`),
        ...extras,
      };
    case "url":
      return { kind: "url", url: requireUrl(from, path), ...extras };
    case "data": {
      const data = from.data ?? null;
      checkJson(data, `${path}.data`);
      return { kind: "data", data, ...extras };
    }
  }
}

function requireUrl(from: JsonObject, path: string): string {
  const url = readString(from, "url", path) as string;
  if (!URL.canParse(url)) throw invalidField(`${path}.url`, "must be an absolute URL");
  return url;
}

export function encodeV1Part(part: Part): JsonObject {
  const out: Record<string, Json> = encodeContent(part);
  if (part.filename !== undefined) out.filename = part.filename;
  if (part.mediaType !== undefined) out.mediaType = part.mediaType;
  if (part.metadata) out.metadata = part.metadata;
  return out;
}

function encodeContent(part: Part): Record<string, Json> {
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
