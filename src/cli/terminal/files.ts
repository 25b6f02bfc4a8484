import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import type { Part } from "../../model/index.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError, codeOf, messageOf } from "./errors.ts";
import { formatSize } from "./text.ts";

export type FilePart = Extract<Part, { kind: "bytes" | "url" }>;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".log": "text/plain",
  ".md": "text/markdown",
  ".mp3": "audio/mpeg",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".wav": "audio/wav",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".zip": "application/zip",
};

/** A local file as a part of a message. */
export async function readAttachment(path: string, cwd: string): Promise<Part> {
  const bytes = await readBounded(resolve(cwd, path));
  const mediaType = MEDIA_TYPES[extname(path).toLowerCase()] ?? "application/octet-stream";
  return { kind: "bytes", bytes: bytes.toString("base64"), filename: basename(path), mediaType };
}

async function readBounded(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    const max = CLI_LIMITS.attachmentBytesMax;
    if (size > max)
      throw new ClientError(
        `${path} is too large to send: ${formatSize(size)}, the maximum is ${formatSize(max)}`,
      );
    return await readFile(path);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError(`${path} cannot be read: ${codeOf(error) ?? messageOf(error)}`);
  }
}

/** `report.csv, text/csv, 1.2 kB`, or the URL instead of the size. */
export function describeFile(part: FilePart): string {
  const location = part.kind === "url" ? part.url : formatSize(Buffer.byteLength(part.bytes, "base64"));
  return [part.filename ?? "file", part.mediaType, location].filter(fact => fact !== undefined).join(", ");
}

/** Writes a file of an agent into the folder, under a safe name that is not in use. */
export async function saveFile(folder: string, part: Extract<Part, { kind: "bytes" }>): Promise<string> {
  const bytes = Buffer.from(part.bytes, "base64");
  const name = toSafeFileName(part.filename);
  await mkdir(folder, { recursive: true });
  for (let copy = 0; copy < CLI_LIMITS.fileNamesMax; copy++) {
    const path = join(folder, copyName(name, copy));
    if (await createFile(path, bytes)) return path;
  }
  throw new ClientError(`${folder} already has ${CLI_LIMITS.fileNamesMax} files named like ${name}`);
}

/** false: the name is in use. */
async function createFile(path: string, bytes: Buffer): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw new ClientError(`${path} cannot be written: ${codeOf(error) ?? messageOf(error)}`);
  }
}

const NAME_CHARS_MAX = 128;

/** The agent chose the name: no folders, no control characters, no hidden files. */
export function toSafeFileName(name: string | undefined): string {
  const last = (name ?? "").split(/[\\/]/).at(-1) as string;
  const safe = last.replace(/[^\p{L}\p{N}._ -]/gu, "_").slice(-NAME_CHARS_MAX);
  return safe.replace(/^[. ]+/, "") || "file";
}

function copyName(name: string, copy: number): string {
  if (copy === 0) return name;
  const extension = extname(name);
  return `${name.slice(0, name.length - extension.length)}-${copy}${extension}`;
}
