/** From what a caller sent to what a graph takes. */
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { readFile } from "../shared/files.ts";
import { isRecord } from "../shared/options.ts";

/** Why a message cannot be taken; in words for the caller. */
export class InputRefusal extends Error {
  override readonly name = "InputRefusal";
}

/** `keys`: the members that the graph's input has; undefined: it does not tell. */
export async function toInput(
  task: AgentTask,
  ctx: Ctx,
  keys: readonly string[] | undefined,
): Promise<JsonObject> {
  checkData(task.input as Json);
  const isKnown = (name: string): boolean => keys === undefined || keys.includes(name);
  const { messages, ...rest } = task.input;
  const data = Object.fromEntries(Object.entries(rest).filter(([name]) => isKnown(name)));
  const said = [...readMessages(messages), ...(await toMessages(task, ctx))];
  if (said.length > 0 && !isKnown("messages"))
    throw new InputRefusal(`This agent takes no text and no files: send data with ${listOf(keys)}`);
  if (said.length === 0 && Object.keys(data).length === 0)
    throw new InputRefusal(`There is nothing in the message that this agent takes: ${listOf(keys)}`);
  return said.length > 0 ? { ...data, messages: said } : data;
}

const listOf = (keys: readonly string[] | undefined): string => (keys ?? ["messages"]).join(", ");

/** Data may bring messages of the user; what others said, callers do not say. */
function readMessages(messages: Json | undefined): readonly JsonObject[] {
  if (messages === undefined) return [];
  const all = Array.isArray(messages) ? messages : [messages];
  return all.map((one: Json) => {
    const role = isRecord(one) ? (one.role ?? one.type) : undefined;
    if (!isRecord(one) || (role !== "user" && role !== "human") || !isContent(one.content as Json))
      throw new InputRefusal('messages in data are objects with role "user" and content, and nothing else');
    return { role: "user", content: one.content as Json };
  });
}

const isContent = (content: Json | undefined): boolean =>
  typeof content === "string" || (Array.isArray(content) && content.every(isRecord));

async function toMessages(task: AgentTask, ctx: Ctx): Promise<readonly JsonObject[]> {
  const { text, files } = task;
  if (text === "" && files.length === 0) return [];
  // Not the caller's: a message with an id that was used before would take the place of the other one.
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
 * LangChain writes its objects as data with a member `lc`, and makes objects of such data when it reads them back from a
 * checkpoint: what a caller sends must not become one.
 */
export function checkData(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && typeof (value as JsonObject).lc === "number")
    throw new InputRefusal("Data with a member lc that is a number is not taken");
  for (const inner of Object.values(value)) checkData(inner as Json);
}
