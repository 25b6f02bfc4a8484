import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Message, type Part } from "../../model/index.ts";
import { invalidField, isObject, normalizeBase64, readString } from "../shared/fields.ts";
import { decodeFileUrl } from "../shared/file-url.ts";

/** A conversation: the message that is to be answered, and what was said before. */
export interface Conversation {
  readonly parts: readonly Part[];
  readonly earlier: readonly Message[];
}

type DecodePart = (part: JsonObject, path: string) => Part;

/** Messages of the roles that both APIs have. The last one must be the user's: agents answer, they do not continue a text. */
export function decodeConversation(
  list: readonly Json[],
  path: string,
  decodePart: DecodePart,
): Conversation {
  if (list.length === 0) throw invalidField(path, "must have at least one message");
  if (list.length > LIMITS.historyMessagesMax)
    throw invalidField(path, `must have at most ${LIMITS.historyMessagesMax} messages`);
  const messages = list.map((one, i) => decodeMessage(one, `${path}[${i}]`, i, decodePart));
  const last = messages.at(-1) as Message;
  if (last.role !== "user" || last.metadata)
    throw invalidField(
      `${path}[${list.length - 1}].role`,
      'must be "user": the agent answers the last message',
    );
  if (last.parts.length === 0) throw invalidField(`${path}[${list.length - 1}].content`, "must not be empty");
  // An empty message of the assistant is a turn that produced nothing.
  return { parts: last.parts, earlier: messages.slice(0, -1).filter(one => one.parts.length > 0) };
}

const ROLES: Readonly<Record<string, Message["role"]>> = {
  user: "user",
  assistant: "agent",
  system: "user",
  developer: "user",
};

function decodeMessage(value: Json, path: string, at: number, decodePart: DecodePart): Message {
  if (!isObject(value)) throw invalidField(path, "must be an object");
  const { role, content } = value;
  if (role === "tool" || role === "function" || Array.isArray(value.tool_calls))
    throw invalidField(path, "is about a tool call, and the agent has made none: its tools are its own");
  const known = typeof role === "string" && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (!known) throw invalidField(`${path}.role`, 'must be "user", "assistant", "system" or "developer"');
  return defined<Message>({
    messageId: `m${at}`,
    role: known,
    parts: decodeContent(content, `${path}.content`, decodePart),
    // A2A has two roles: what the operator of the chat window says is marked.
    metadata: role === "system" || role === "developer" ? SYSTEM : undefined,
  });
}
const SYSTEM: JsonObject = { role: "system" };

function decodeContent(content: Json | undefined, path: string, decodePart: DecodePart): readonly Part[] {
  if (content === null || content === undefined || content === "") return [];
  if (typeof content === "string") return [toText(content, path)];
  if (!Array.isArray(content)) throw invalidField(path, "must be a string or an array of parts");
  if (content.length > LIMITS.partsMax)
    throw invalidField(path, `must have at most ${LIMITS.partsMax} parts`);
  return content.map((part: Json, i) => {
    if (!isObject(part)) throw invalidField(`${path}[${i}]`, "must be an object");
    return decodePart(part, `${path}[${i}]`);
  });
}

export function toText(text: string, path: string): Part {
  if (!text.isWellFormed()) throw invalidField(path, "must be well-formed Unicode");
  return { kind: "text", text };
}

export function requireText(from: JsonObject, name: string, path: string): Part {
  const text = readString(from, name, path);
  if (text === undefined) throw invalidField(`${path}.${name}`, "is required");
  return { kind: "text", text };
}

/** The parts of `POST /v1/chat/completions`. */
export function decodeChatPart(part: JsonObject, path: string): Part {
  switch (part.type) {
    case "text":
      return requireText(part, "text", path);
    case "refusal":
      return requireText(part, "refusal", path);
    case "image_url": {
      const image = isObject(part.image_url) ? part.image_url : { url: part.image_url ?? null };
      return decodeFileUrl(image.url, `${path}.image_url.url`, { isImage: true });
    }
    case "file": {
      if (!isObject(part.file)) throw invalidField(`${path}.file`, "must be an object");
      return decodeFile(part.file, `${path}.file`);
    }
    default:
      throw invalidField(`${path}.type`, 'must be "text", "image_url" or "file"');
  }
}

/** The parts of `POST /v1/responses`. */
export function decodeResponsePart(part: JsonObject, path: string): Part {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return requireText(part, "text", path);
    case "refusal":
      return requireText(part, "refusal", path);
    case "input_image":
      if (part.file_id != null) throw noFiles(`${path}.file_id`);
      return decodeFileUrl(part.image_url, `${path}.image_url`, { isImage: true });
    case "input_file":
      if (part.file_url != null) return decodeFileUrl(part.file_url, `${path}.file_url`, nameOf(part, path));
      return decodeFile(part, path);
    default:
      throw invalidField(`${path}.type`, 'must be "input_text", "input_image" or "input_file"');
  }
}

const nameOf = (file: JsonObject, path: string): { readonly filename?: string } =>
  defined<{ filename?: string }>({ filename: readString(file, "filename", path) });

const noFiles = (field: string) =>
  invalidField(field, "is not supported: this server stores no files; send the content as a data URL");

function decodeFile(file: JsonObject, path: string): Part {
  if (file.file_id != null) throw noFiles(`${path}.file_id`);
  const { file_data: data } = file;
  const field = `${path}.file_data`;
  if (typeof data !== "string" || data === "")
    throw invalidField(field, "is required: a data URL, or base64");
  if (/^data:/i.test(data)) return decodeFileUrl(data, field, nameOf(file, path));
  return defined<Part>({
    kind: "bytes",
    bytes: normalizeBase64(data, field),
    ...nameOf(file, path),
  } as never);
}
