/** Converts the message of the caller to the input of a graph. */
import type { AgentTask, Ctx } from "../../agent/context.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { readFile } from "../shared/files.ts";
import { isRecord } from "../shared/options.ts";

/** An invalid message; the error message is for the caller. */
export class InputError extends Error {
  override readonly name = "InputRefusal";
}

/** `keys`: the members of the graph's input; undefined: not known. */
export async function toInput(
  task: AgentTask,
  ctx: Ctx,
  keys: readonly string[] | undefined,
): Promise<JsonObject> {
  checkData(task.input as Json);
  const isKnown = (name: string): boolean => keys === undefined || keys.includes(name);
  const { messages, ...rest } = task.input;
  const data = Object.fromEntries(Object.entries(rest).filter(([name]) => isKnown(name)));
  const all = [...readMessages(messages), ...(await toMessages(task, ctx))];
  if (all.length > 0 && !isKnown("messages"))
    throw new InputError(`This agent accepts neither text nor files: send data with ${listOf(keys)}`);
  if (all.length === 0 && Object.keys(data).length === 0)
    throw new InputError(`The message contains none of the members that this agent accepts: ${listOf(keys)}`);
  return all.length > 0 ? { ...data, messages: all } : data;
}

const listOf = (keys: readonly string[] | undefined): string => (keys ?? ["messages"]).join(", ");

/** Data may contain messages with the role user only: callers must not forge those of other roles. */
function readMessages(messages: Json | undefined): readonly JsonObject[] {
  if (messages === undefined) return [];
  const all = Array.isArray(messages) ? messages : [messages];
  return all.map((one: Json) => {
    const role = isRecord(one) ? (one.role ?? one.type) : undefined;
    if (!isRecord(one) || (role !== "user" && role !== "human") || !isContent(one.content as Json))
      throw new InputError('messages in data must be objects with role "user" and content');
    return { role: "user", content: one.content as Json };
  });
}

const isContent = (content: Json | undefined): boolean =>
  typeof content === "string" || (Array.isArray(content) && content.every(isRecord));

async function toMessages(task: AgentTask, ctx: Ctx): Promise<readonly JsonObject[]> {
  const { text, files } = task;
  if (text === "" && files.length === 0) return [];
  // Not the id of the caller: a message with a known id would replace the other message in the state.
  const id = `${task.id}.${task.turn}`;
  if (files.length === 0) return [{ role: "user", id, content: text }];
  const blocks = await Promise.all(files.map(async file => toBlock(await readFile(file, ctx))));
  const content = [...(text === "" ? [] : [{ type: "text", text }]), ...blocks];
  return [{ role: "user", id, content }];
}

const FAMILIES: ReadonlySet<string> = new Set(["image", "audio", "video"]);

/** One of LangChain's standard content blocks. */
function toBlock(file: { name: string; mediaType: string; bytes: Uint8Array }): JsonObject {
  const family = file.mediaType.split("/")[0] as string;
  const { buffer, byteOffset, byteLength } = file.bytes;
  return {
    type: FAMILIES.has(family) ? family : "file",
    mimeType: file.mediaType,
    data: Buffer.from(buffer, byteOffset, byteLength).toString("base64"),
    metadata: { filename: file.name, name: file.name },
  };
}

/**
 * LangChain serializes its objects as data with a member `lc`, and creates objects from such data when it reads a
 * checkpoint: data of a caller must not become an object.
 */
export function checkData(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && typeof (value as JsonObject).lc === "number")
    throw new InputError("Data must not contain a member lc with a number");
  for (const inner of Object.values(value)) checkData(inner as Json);
}
