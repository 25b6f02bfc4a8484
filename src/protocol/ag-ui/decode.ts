import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type ContextId, LIMITS, type Message, type Part } from "../../model/index.ts";
import type { AnswerTarget, Operation, SendRequest, WireCall } from "../../ports/index.ts";
import { checkJson, invalidField, isObject, joinPath, readString, requireId } from "../shared/fields.ts";
import { decodeFileUrl } from "../shared/file-url.ts";
import { readExtensions } from "../shared/headers.ts";
import { parseInterruptId } from "./interrupts.ts";

/** The content of a message, and what it answers. */
interface NewMessage {
  readonly parts: readonly Part[];
  readonly messageId?: string | undefined;
  readonly answer?: AnswerTarget | undefined;
}

/** RunAgentInput: a thread is a context. The client sends all messages; the last ones are new. */
export function decodeRun(call: WireCall): Operation {
  const { params: body } = call;
  if (!isObject(body)) throw invalidField("body", "must be a RunAgentInput");
  const contextId = requireId(body, "threadId", "") as ContextId;
  const runId = requireId(body, "runId", "");
  const messages = readMessages(body);
  const { parts, messageId, answer } = readResume(body) ?? readLast(messages);
  const earlier = answer ? [] : toEarlier(messages.slice(0, -1));
  return {
    op: "stream",
    agent: call.vars.agent as Operation["agent"],
    form: runId,
    view: { artifacts: true },
    until: "settled",
    send: defined<SendRequest>({
      origin: "agui",
      shown: true,
      inputField: "messages",
      message: defined<SendRequest["message"]>({
        role: "user" as const,
        messageId,
        parts,
        metadata: readInput(body),
      }),
      contextId,
      contextAnswers: "newest",
      threadless: true,
      answer,
      earlier: earlier.length > 0 ? earlier : undefined,
      extensions: readExtensions(call),
    }),
  };
}

/** What the front end shares with the agent: `task.message.metadata.agui`. */
function readInput(body: JsonObject): JsonObject | undefined {
  const shared = Object.entries({
    tools: body.tools,
    context: body.context,
    state: body.state,
    forwardedProps: body.forwardedProps,
  }).filter(([, value]) => value != null && Object.keys(value as object).length !== 0);
  if (shared.length === 0) return undefined;
  for (const [name, value] of shared) checkJson(value as Json, name);
  for (const name of ["tools", "context"])
    if (body[name] != null && !Array.isArray(body[name])) throw invalidField(name, "must be an array");
  return { agui: Object.fromEntries(shared) as JsonObject };
}

function readMessages(body: JsonObject): readonly JsonObject[] {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length > LIMITS.historyMessagesMax)
    throw invalidField("messages", `must be an array of at most ${LIMITS.historyMessagesMax} messages`);
  messages.forEach((one, i) => {
    if (!isObject(one)) throw invalidField(`messages[${i}]`, "must be an object");
  });
  return messages as unknown as readonly JsonObject[];
}

// ---- the new message -----------------------------------------------------------------------------------------

function readLast(messages: readonly JsonObject[]): NewMessage {
  const at = messages.length - 1;
  const last = messages[at];
  if (!last) throw invalidField("messages", "must have at least one message, or resume an interrupt");
  if (last.role === "tool") return readToolResults(messages);
  if (last.role !== "user")
    throw invalidField(
      `messages[${at}].role`,
      'must be "user" or "tool": the agent answers the last message',
    );
  const parts = decodeContent(last.content, `messages[${at}].content`);
  if (parts.length === 0) throw invalidField(`messages[${at}].content`, "must not be empty");
  return { parts, messageId: requireId(last, "id", `messages[${at}]`) };
}

/** The results of the calls that the agent asked for: all tool messages at the end. */
function readToolResults(messages: readonly JsonObject[]): NewMessage {
  const from = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  const resume = messages.slice(from).map((message, i) => {
    const path = `messages[${from + i}]`;
    return { id: requireId(message, "toolCallId", path), value: readToolValue(message, path) };
  });
  return toAnswers(resume, at => `messages[${from + at}].toolCallId`);
}

/** Answers to several questions. `fieldOf`: the parameter with the id of the question. */
function toAnswers(
  resume: readonly { id: string; value: Json }[],
  fieldOf: (at: number) => string,
): NewMessage {
  const ids = resume.map(({ id }, at) => ({ id, field: fieldOf(at) }));
  return { parts: [{ kind: "data", data: { resume } }], answer: { field: fieldOf(0), ids } };
}

function readToolValue(message: JsonObject, path: string): Json {
  const error = readString(message, "error", path);
  if (error !== undefined) return { error };
  const { content = "" } = message;
  if (typeof content !== "string") {
    checkJson(content, `${path}.content`);
    return content;
  }
  try {
    return JSON.parse(content) as Json;
  } catch {
    return content;
  }
}

/** `resume` answers the interrupts of the last run. */
function readResume(body: JsonObject): NewMessage | undefined {
  const { resume } = body;
  if (resume === undefined || resume === null || (Array.isArray(resume) && resume.length === 0))
    return undefined;
  if (!Array.isArray(resume) || resume.length > LIMITS.listEntriesMax)
    throw invalidField("resume", `must be an array of at most ${LIMITS.listEntriesMax} entries`);
  const entries = resume.map((entry: Json, i) => readResumeEntry(entry, `resume[${i}]`));
  const [first] = entries as [ResumeEntry];
  const { kind, id } = parseInterruptId(first.interruptId);
  const fieldOf = (at: number): string => `resume[${at}].interruptId`;
  if (kind === "asked")
    return toAnswers(
      entries.map(({ interruptId, payload }) => ({ id: interruptId, value: payload ?? null })),
      fieldOf,
    );
  if (entries.length > 1) throw invalidField(fieldOf(1), "must be an interrupt of the last run");
  const field = fieldOf(0);
  if (kind === "question") return { parts: [toAnswerPart(first)], answer: { field, question: id } };
  return { parts: [toCredentialsPart(first)], answer: { field, credentials: id } };
}

interface ResumeEntry {
  readonly interruptId: string;
  /** undefined: the user declined. */
  readonly payload: Json | undefined;
}

function readResumeEntry(entry: Json, path: string): ResumeEntry {
  if (!isObject(entry)) throw invalidField(path, "must be an object");
  const interruptId = requireId(entry, "interruptId", path);
  if (entry.status !== "resolved" && entry.status !== "cancelled")
    throw invalidField(`${path}.status`, 'must be "resolved" or "cancelled"');
  if (entry.status === "cancelled") return { interruptId, payload: undefined };
  const payload = entry.payload ?? null;
  checkJson(payload, `${path}.payload`);
  return { interruptId, payload };
}

/** A text answers as if it was typed; an answer that was declined is data. */
function toAnswerPart({ payload }: ResumeEntry): Part {
  if (payload === undefined) return { kind: "data", data: { cancelled: true } };
  return typeof payload === "string" ? { kind: "text", text: payload } : { kind: "data", data: payload };
}

/** An agent whose user declines asks again, or ends. */
function toCredentialsPart(entry: ResumeEntry): Part {
  const { payload } = entry;
  if (payload === undefined) return toAnswerPart(entry);
  const isGiven = isObject(payload) ? Object.keys(payload).length > 0 : typeof payload === "string";
  if (!isGiven) throw invalidField("resume[0].payload", "must be a token or an object with the credentials");
  return { kind: "data", data: { credentials: payload } };
}

// ---- the conversation before -------------------------------------------------------------------------------------

const ROLES: Readonly<Record<string, Message["role"]>> = {
  user: "user",
  assistant: "agent",
  system: "user",
  developer: "user",
};

/** Messages of tools, reasoning and activities are the agent's own business. */
function toEarlier(messages: readonly JsonObject[]): readonly Message[] {
  return messages.flatMap((message, i) => {
    const { role, content } = message;
    if (typeof role !== "string") throw invalidField(`messages[${i}].role`, "is required");
    const known = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
    const parts = known ? decodeContent(content, `messages[${i}].content`) : [];
    if (!known || parts.length === 0) return [];
    const metadata = role === "system" || role === "developer" ? { role: "system" } : undefined;
    return [
      defined<Message>({
        messageId: requireId(message, "id", `messages[${i}]`),
        role: known,
        parts,
        metadata,
      }),
    ];
  });
}

function decodeContent(content: Json | undefined, path: string): readonly Part[] {
  if (content === undefined || content === null || content === "") return [];
  if (typeof content === "string") {
    if (!content.isWellFormed()) throw invalidField(path, "must be well-formed Unicode");
    return [{ kind: "text", text: content }];
  }
  if (!Array.isArray(content) || content.length > LIMITS.partsMax)
    throw invalidField(path, `must be a string or an array of at most ${LIMITS.partsMax} parts`);
  return content.map((part: Json, i) => decodePart(part, `${path}[${i}]`));
}

const MEDIA: ReadonlySet<Json | undefined> = new Set(["image", "audio", "video", "document"]);

function decodePart(part: Json, path: string): Part {
  if (!isObject(part)) throw invalidField(path, "must be an object");
  const { type, source } = part;
  if (type === "text") return { kind: "text", text: readString(part, "text", path) ?? "" };
  if (!MEDIA.has(type))
    throw invalidField(joinPath(path, "type"), 'must be "text", "image", "audio", "video" or "document"');
  if (!isObject(source)) throw invalidField(joinPath(path, "source"), "must be an object");
  const field = `${path}.source`;
  const isImage = type === "image" ? (true as const) : undefined;
  const mediaType = readString(source, "mimeType", field);
  const value = readString(source, "value", field) ?? "";
  if (source.type === "url") return decodeFileUrl(value, `${field}.value`, defined({ isImage, mediaType }));
  if (source.type !== "data")
    throw invalidField(`${field}.type`, 'must be "data" or "url": this server stores no files');
  const url = `data:${mediaType ?? "application/octet-stream"};base64,${value}`;
  return decodeFileUrl(url, `${field}.value`, defined({ isImage }));
}
