import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type ContextId, LIMITS, type Message, type Part } from "../../model/index.ts";
import type { AnswerTarget, Operation, SendRequest, WireCall } from "../../ports/index.ts";
import { checkJson, invalidField, isObject, readId, readString, requireId } from "../shared/fields.ts";
import { decodeFileUrl } from "../shared/file-url.ts";
import { readExtensions } from "../shared/headers.ts";

/** `{ id, messages, trigger, messageId }`; `message` alone is the newest one. The id of the chat is that of the context. */
export function decodeChat(call: WireCall): Operation {
  const { params: body } = call;
  if (!isObject(body)) throw invalidField("body", "must be a JSON object");
  const contextId = requireId(body, "id", "") as ContextId;
  const isRepeated = readTrigger(body) === "regenerate-message";
  const { message, earlier, path } = decodeMessages(body);
  const { messageId, ...rest } = message;
  return {
    op: "stream",
    agent: call.vars.agent as Operation["agent"],
    view: { artifacts: true },
    until: "settled",
    send: defined<SendRequest>({
      origin: "aisdk",
      shown: true,
      inputField: "messages",
      // A message whose answer is wanted again is a new one.
      message: isRepeated ? rest : { ...rest, messageId },
      contextId,
      contextAnswers: "newest",
      threadless: true,
      answer: toAnswerTarget(rest.parts, path),
      earlier: earlier.length > 0 ? earlier : undefined,
      extensions: readExtensions(call),
    }),
  };
}

/** The answers of a message to several questions. `path`: of the message. */
function toAnswerTarget(parts: readonly Part[], path: string): AnswerTarget | undefined {
  const at = parts.findIndex(isResume);
  if (at === -1) return undefined;
  const field = `${path}.parts[${at}].data`;
  const { resume } = (parts[at] as ResumePart).data;
  return { field, ids: resume.map(({ id }, i) => ({ id, field: `${field}[${i}].id` })) };
}

const TRIGGERS = ["submit-message", "regenerate-message"];

function readTrigger(body: JsonObject): string | undefined {
  const trigger = readString(body, "trigger", "");
  if (trigger !== undefined && !TRIGGERS.includes(trigger))
    throw invalidField("trigger", `must be ${TRIGGERS.map(one => `"${one}"`).join(" or ")}`);
  return trigger;
}

function decodeMessages(body: JsonObject): {
  readonly message: Message;
  readonly earlier: readonly Message[];
  /** Of the message. */
  readonly path: string;
} {
  const { messages, message } = body;
  const isSingle = messages === undefined && message !== undefined;
  const list = isSingle ? [message] : messages;
  if (!Array.isArray(list) || list.length === 0)
    throw invalidField("messages", "must be an array of messages");
  if (list.length > LIMITS.historyMessagesMax)
    throw invalidField("messages", `must have at most ${LIMITS.historyMessagesMax} messages`);
  const pathOf = (at: number): string => (isSingle ? "message" : `messages[${at}]`);
  const decoded = list.map((one, i) => decodeMessage(one as Json, pathOf(i), i === list.length - 1));
  const last = decoded.at(-1) as Message;
  const path = pathOf(list.length - 1);
  if (last.parts.length === 0) throw invalidField(`${path}.parts`, "must have at least one part");
  return { message: last, earlier: decoded.slice(0, -1).filter(({ parts }) => parts.length > 0), path };
}

const ROLES: Readonly<Record<string, Message["role"]>> = { user: "user", assistant: "agent", system: "user" };

function decodeMessage(value: Json, path: string, isLast: boolean): Message {
  if (!isObject(value)) throw invalidField(path, "must be an object");
  const { role, parts } = value;
  const known = typeof role === "string" && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (!known) throw invalidField(`${path}.role`, 'must be "user", "assistant" or "system"');
  if (isLast && role !== "user")
    throw invalidField(`${path}.role`, 'must be "user": the agent answers the last message');
  if (!Array.isArray(parts) || parts.length > LIMITS.partsMax)
    throw invalidField(`${path}.parts`, `must be an array of at most ${LIMITS.partsMax} parts`);
  return defined<Message>({
    messageId: readId(value, "id", path) ?? path,
    role: known,
    parts: parts.flatMap((part: Json, i) => decodePart(part, `${path}.parts[${i}]`, isLast)),
    metadata: role === "system" ? { role: "system" } : undefined,
  });
}

interface ResumePart {
  readonly kind: "data";
  readonly data: { readonly resume: readonly { readonly id: string; readonly value: Json }[] };
}
const isResume = (part: Part): part is Part & ResumePart =>
  part.kind === "data" &&
  part.metadata?.name === "resume" &&
  isObject(part.data) &&
  Array.isArray(part.data.resume);

/** Earlier messages have parts that only the window needs: steps, sources, tools; they are left out. */
function decodePart(part: Json, path: string, isLast: boolean): readonly Part[] {
  if (!isObject(part) || typeof part.type !== "string")
    throw invalidField(path, "must be an object with a type");
  const { type } = part;
  if (type === "text") return [{ kind: "text", text: readString(part, "text", path) ?? "" }];
  if (type === "file") return [decodeFile(part, path)];
  if (type.startsWith("data-")) return [decodeData(type.slice("data-".length), part, path)];
  if (isLast)
    throw invalidField(
      `${path}.type`,
      'must be "text", "file" or "data-NAME": the agent has made no tool call',
    );
  return [];
}

function decodeFile(part: JsonObject, path: string): Part {
  const mediaType = readString(part, "mediaType", path);
  const filename = readString(part, "filename", path);
  const isImage = mediaType?.startsWith("image/") ? (true as const) : undefined;
  return decodeFileUrl(part.url, `${path}.url`, defined({ mediaType, filename, isImage }));
}

/** `data-resume` answers several questions by their ids: `[{ id, value }]`. */
function decodeData(name: string, { data }: JsonObject, path: string): Part {
  if (data === undefined) throw invalidField(`${path}.data`, "is required");
  checkJson(data, `${path}.data`);
  if (name !== "resume") return { kind: "data", data, metadata: { name } };
  if (!Array.isArray(data) || !data.every(one => isObject(one) && typeof one.id === "string"))
    throw invalidField(`${path}.data`, "must be an array of objects with id and value");
  return { kind: "data", data: { resume: data }, metadata: { name } };
}
