import { defined, type Json } from "../../lib/json.ts";
import { LIMITS, type Part } from "../../model/index.ts";
import { invalidField, normalizeBase64 } from "./fields.ts";

interface FileUrlOptions {
  /** The content must be an image. */
  readonly isImage?: true;
  readonly filename?: string;
  /** The type that the caller names; a data URL has its own. */
  readonly mediaType?: string;
}

/** A data URL is content, any other URL is a reference. */
export function decodeFileUrl(url: Json | undefined, path: string, options: FileUrlOptions): Part {
  const { isImage, filename } = options;
  if (typeof url !== "string" || url === "" || !url.isWellFormed())
    throw invalidField(path, "must be an http URL or a data URL");
  const data = /^data:([^,;]*)((?:;[^,;]*)*),/i.exec(url.slice(0, 1_000));
  if (data) {
    const [head, type = "", options = ""] = data;
    if (!/;base64$/i.test(options)) throw invalidField(path, "must be a data URL with base64");
    const mediaType = type.toLowerCase() || "application/octet-stream";
    if (isImage && !mediaType.startsWith("image/"))
      throw invalidField(path, `must be an image, not ${mediaType}`);
    const bytes = normalizeBase64(url.slice(head.length), path);
    if (bytes === "") throw invalidField(path, "must not be empty");
    if (isImage && !isImageContent(bytes, mediaType))
      throw invalidField(path, `must contain an image of the type ${mediaType}`);
    return defined<Part>({ kind: "bytes", bytes, mediaType, filename });
  }
  if (!/^https?:\/\/[^\s]+$/i.test(url) || url.length > LIMITS.pushUrlCharsMax)
    throw invalidField(path, "must be an http URL or a data URL");
  const mediaType = options.mediaType ?? (isImage ? imageTypeOf(url) : undefined);
  return defined<Part>({ kind: "url", url, mediaType, filename } as never);
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};
const imageTypeOf = (url: string): string =>
  EXTENSIONS[/\.(\w{3,4})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? ""] ?? "image/*";

/** The first characters of images in base64, by type; other types are not checked. */
const SIGNATURES: Readonly<Record<string, string>> = {
  "image/png": "iVBORw0KGgo",
  "image/jpeg": "/9j/",
  "image/gif": "R0lGOD",
  "image/webp": "UklGR",
};
const isImageContent = (bytes: string, mediaType: string): boolean =>
  bytes.startsWith(SIGNATURES[mediaType] ?? "");
