/** Converts the content of agent authors to parts. Invalid values throw here, with the author's stack, not later in the store. */
import type { Content, FileContent, PartContent, Questions } from "../../agent/content.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { LIMITS, textOf } from "../../model/index.ts";
import { describeValue } from "../shared/describe-value.ts";

export function toParts(content: Content): readonly Part[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  if (parts.length === 0) throw new TypeError("Content needs at least one part, got an empty array");
  if (parts.length > LIMITS.partsMax) throw new TypeError(`${parts.length} parts are too many`);
  return parts.map(toPart);
}

function toPart(value: unknown): Part {
  if (typeof value === "string") return { kind: "text", text: value };
  const part = value as Part;
  const extras = {
    filename: part?.filename,
    mediaType: part?.mediaType,
    metadata: part?.metadata && toMetadata(part.metadata),
  };
  switch (part?.kind) {
    case "text":
      return defined<Part>({ kind: "text", text: checkText(part.text), ...extras });
    case "data":
      return defined<Part>({ kind: "data", data: toJson(part.data), ...extras });
    case "url":
      return defined<Part>({ kind: "url", url: checkUrl(part.url), ...extras });
    case "bytes":
      return defined<Part>({ kind: "bytes", bytes: toBase64(part.bytes), ...extras });
    default:
      throw new TypeError(
        `A part is a string or an object with kind "text", "data", "url" or "bytes", got ${describeValue(value)}`,
      );
  }
}

/** Several questions in one message: all texts for people, and each question with its id as data for programs. */
export function toQuestions(questions: Questions): readonly Part[] {
  const all = Object.entries(questions).map(([id, question]) => ({ id, parts: toParts(question) }));
  if (all.length === 0 || all.length > LIMITS.listEntriesMax)
    throw new TypeError(`ctx.askAll takes 1 to ${LIMITS.listEntriesMax} questions, got ${all.length}`);
  for (const { id } of all)
    if (id === "" || id.length > LIMITS.idCharsMax)
      throw new TypeError(
        `The id of a question has 1 to ${LIMITS.idCharsMax} characters, got ${describeValue(id)}`,
      );
  const texts = all.map(({ parts }) => textOf(parts)).filter(text => text !== "");
  const data = all.flatMap(({ id, parts }): readonly Part[] => [
    { kind: "data", data: { id, question: textOf(parts) } },
    ...parts.filter(part => part.kind !== "text"),
  ]);
  return texts.length > 0 ? [{ kind: "text", text: texts.join("\n") }, ...data] : data;
}

/** `toParts` checks the content, like that of any other part. */
export function toFilePart(file: FileContent): PartContent {
  if (typeof file?.name !== "string" || file.name === "")
    throw new TypeError("ctx.file needs a name: ctx.file({ name, bytes }) or ctx.file({ name, url })");
  if ((file.bytes === undefined) === (file.url === undefined))
    throw new TypeError(`ctx.file needs either bytes or url (${file.name})`);
  const mediaType = file.mediaType ?? guessMediaType(file.name);
  const extras = { filename: file.name, ...(mediaType && { mediaType }) };
  if (file.url !== undefined) return { kind: "url", url: file.url, ...extras };
  return { kind: "bytes", bytes: file.bytes, ...extras };
}

export function checkText(text: unknown): string {
  if (typeof text === "string") return text;
  throw new TypeError(`Text must be a string, got ${describeValue(text)}`);
}

/** A copy: later changes of the author's object do not change the event, and only JSON is recorded. */
function toJson(value: unknown): Json {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`Data must be JSON, got ${describeValue(value)}`);
  const copy = JSON.parse(text) as Json;
  if (isDeeper(copy, LIMITS.jsonDepthMax))
    throw new TypeError(`Data is nested more than ${LIMITS.jsonDepthMax} levels deep`);
  return copy;
}

export const toMetadata = (value: JsonObject): JsonObject => toJson(value) as JsonObject;

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`Data must be JSON: ${cause instanceof Error ? cause.message : "it is not"}`, {
      cause,
    });
  }
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1));
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function toBase64(bytes: unknown): string {
  if (bytes instanceof Uint8Array)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  if (typeof bytes === "string" && bytes.length % 4 === 0 && BASE64.test(bytes)) return bytes;
  throw new TypeError(
    `bytes must be a Uint8Array or a string of standard base64, got ${describeValue(bytes)}`,
  );
}

export function checkUrl(url: unknown): string {
  if (typeof url === "string" && URL.canParse(url)) return url;
  throw new TypeError(`url must be an absolute URL, got ${describeValue(url)}`);
}

/** Common media types by file extension. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  wav: "audio/wav",
  webp: "image/webp",
  xml: "application/xml",
  zip: "application/zip",
};

function guessMediaType(name: string): string | undefined {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(MEDIA_TYPES, extension) ? MEDIA_TYPES[extension] : undefined;
}
