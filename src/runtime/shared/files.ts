/** What came with a message, for those who pass it on to a model. */
import type { AgentFile, AgentTask, Ctx } from "../../agent/definition.ts";
import { LIMITS } from "../../model/index.ts";

/** What a file of a message holds. */
export interface FileBytes {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A file that a caller pointed to and that cannot be had; the message is for the caller. */
export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
}

/** Part by part: words as they are, data as JSON, and files. */
export async function* readParts(task: AgentTask, ctx: Ctx): AsyncGenerator<string | FileBytes> {
  const files = task.files.values();
  for (const part of task.message.parts) {
    if (part.kind === "text") yield part.text;
    else if (part.kind === "data") yield JSON.stringify(part.data);
    else yield await readFile(files.next().value as AgentFile, ctx);
  }
}

/**
 * Fetched here and not by whoever gets it: a URL comes from a caller, and a model's server may stand inside, where callers
 * must not reach.
 */
export async function readFile(file: AgentFile, ctx: Ctx): Promise<FileBytes> {
  const { name, mediaType } = file;
  if (file.url === undefined) return { name, mediaType, bytes: file.bytes };
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(LIMITS.fileFetchMs)]);
  try {
    const response = await ctx.outbound.guarded(file.url, { signal });
    if (!response.ok) throw new Error(`it answered with HTTP ${response.status}`);
    const type = response.headers.get("content-type")?.split(";")[0]?.trim();
    const bytes = await readBytes(response, LIMITS.fileFetchBytesMax);
    return { name, mediaType: mediaType === UNKNOWN && type ? type : mediaType, bytes };
  } catch (cause) {
    ctx.signal.throwIfAborted();
    ctx.log.warn({ err: cause, file: name }, "a file that a caller pointed to could not be fetched");
    throw new FileRefusal(`The file ${JSON.stringify(name)} could not be fetched: send it with the message`, {
      cause,
    });
  }
}

/** What a part is if nobody said. */
const UNKNOWN = "application/octet-stream";

/** The whole body, if it is not larger than that. */
export async function readBytes(response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks, size);
}
