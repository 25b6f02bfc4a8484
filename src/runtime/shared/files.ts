/** Reads the parts and files of a message for runtimes that pass them to a model. */
import type { AgentFile } from "../../agent/content.ts";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { LIMITS } from "../../model/index.ts";

export interface FileBytes {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A file of the caller that cannot be used; the message is for the caller. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** Text as it is, data as JSON, and files. */
export async function* readParts(task: AgentTask, ctx: Ctx): AsyncGenerator<string | FileBytes> {
  const files = task.files.values();
  for (const part of task.message.parts) {
    if (part.kind === "text") yield part.text;
    else if (part.kind === "data") yield JSON.stringify(part.data);
    else yield await readFile(files.next().value as AgentFile, ctx);
  }
}

const UNKNOWN_TYPE = "application/octet-stream";

/**
 * Files are fetched here and not by the model: the URL comes from the caller, and the server of the model may be inside a
 * private network that callers must not reach.
 */
export async function readFile(file: AgentFile, ctx: Ctx): Promise<FileBytes> {
  const { name, mediaType } = file;
  if (file.url === undefined) return { name, mediaType, bytes: file.bytes };
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(LIMITS.fileFetchMs)]);
  try {
    const response = await ctx.outbound.guarded(file.url, { signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const type = response.headers.get("content-type")?.split(";")[0]?.trim();
    const bytes = await readBytes(response, LIMITS.fileFetchBytesMax);
    return { name, mediaType: mediaType === UNKNOWN_TYPE && type ? type : mediaType, bytes };
  } catch (cause) {
    ctx.signal.throwIfAborted();
    ctx.log.warn({ err: cause, file: name }, "a file URL in a message could not be fetched");
    const message = `The file ${JSON.stringify(name)} could not be fetched: send it with the message`;
    throw new FileError(message, { cause });
  }
}

/** Throws if the body is larger than `bytesMax`. */
export async function readBytes(response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > bytesMax) throw new Error(`The body is larger than ${bytesMax} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks, size);
}
