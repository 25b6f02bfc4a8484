import { mediaTypeOf, type Part } from "../../src/model/message.ts";

/** Bytes of agents and callers: decoded only when they are shown or saved. */

export function bytesOf(part: Part): Uint8Array<ArrayBuffer> {
  if (part.kind === "bytes") return fromBase64(part.bytes);
  const text =
    part.kind === "text" ? part.text : part.kind === "data" ? JSON.stringify(part.data, null, 2) : part.url;
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  return bytes;
}

export async function toBase64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let raw = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    raw += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(raw);
}

export const sizeOf = (part: Part): number =>
  part.kind === "bytes"
    ? Math.floor((part.bytes.length * 3) / 4)
    : part.kind === "text"
      ? part.text.length
      : bytesOf(part).length;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "text/markdown": "md",
  "text/csv": "csv",
  "text/html": "html",
};

export function fileName(part: Part, fallback: string): string {
  if (part.filename) return part.filename;
  const type = mediaTypeOf(part).split(";")[0] ?? "";
  return /\.\w{1,5}$/.test(fallback)
    ? fallback
    : `${fallback}.${EXTENSIONS[type] ?? (type.startsWith("text/") ? "txt" : (type.split("/")[1]?.replace(/\W.*$/, "") ?? "bin"))}`;
}

export type Preview = "markdown" | "text" | "json" | "table" | "image" | "audio" | "video" | "link" | "none";

export function previewOf(part: Part): Preview {
  if (part.kind === "url") return "link";
  if (part.kind === "data") return "json";
  const type = (part.mediaType ?? (part.kind === "text" ? "text/markdown" : "")).toLowerCase();
  if (/^text\/(?:csv|tab-separated-values)/.test(type)) return "table";
  if (/json/.test(type)) return "json";
  if (type.startsWith("text/markdown") || (part.kind === "text" && type.startsWith("text/plain")))
    return "markdown";
  if (type.startsWith("text/") || part.kind === "text") return "text";
  if (/^image\/(?:png|jpe?g|gif|webp|avif|svg\+xml)/.test(type)) return "image";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  return "none";
}
