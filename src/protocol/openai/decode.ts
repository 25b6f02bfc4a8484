import { defined, type JsonObject } from "../../lib/json.ts";
import { type ContextId, LIMITS } from "../../model/index.ts";
import type { Operation, SendRequest, WireCall } from "../../ports/index.ts";
import {
  hasControlCharacters,
  invalidField,
  isObject,
  readBoolean,
  readId,
  readObject,
  readString,
} from "../shared/fields.ts";
import { readExtensions } from "../shared/headers.ts";
import {
  type Conversation,
  decodeChatPart,
  decodeConversation,
  decodeResponsePart,
  toText,
} from "./decode-content.ts";
import { CONTEXT_HEADERS, parseResponseId } from "./ids.ts";
import { checkOptions, isStream, readHints, readLabels, wantsJson } from "./options.ts";

const VIEW = { artifacts: true, historyMax: 0 } as const;

function readBody({ params }: WireCall): JsonObject {
  if (isObject(params)) return params;
  throw invalidField("body", "must be a JSON object");
}

/** The agent: below /agents/NAME the one of the path, else the model. */
function readAgent(call: WireCall, body: JsonObject): Operation["agent"] {
  const { model } = body;
  const { agent } = call.vars;
  if (model === undefined || model === null) {
    if (agent !== undefined) return agent as Operation["agent"];
    throw invalidField("model", "is required: the name of an agent");
  }
  if (typeof model !== "string" || model === "" || model.length > LIMITS.idCharsMax)
    throw invalidField("model", "must be the name of an agent");
  // Another model does not exist below the path of this one.
  return (agent !== undefined && agent !== model ? `${agent}/${model}` : model) as Operation["agent"];
}

// ---- POST /v1/chat/completions -------------------------------------------------------------------------------

export function decodeChat(call: WireCall): Operation {
  const body = readBody(call);
  const agent = readAgent(call, body);
  checkOptions(body);
  const { messages } = body;
  if (!Array.isArray(messages)) throw invalidField("messages", "must be an array");
  const conversation = decodeConversation(messages, "messages", decodeChatPart);
  const contextId = readContextHeader(call);
  const isJson = wantsJson(body.response_format, "response_format");
  const send = toSend(call, body, conversation, {
    inputField: "messages",
    contextId,
    contextAnswers: "newest",
    earlier: conversation.earlier,
    structured: isJson ? { field: "response_format" } : undefined,
  });
  const form = ["chat", isJson && "json", wantsUsage(body) && "usage"].filter(Boolean).join(" ");
  return toOperation(agent, send, form, isStream(body));
}

function wantsUsage(body: JsonObject): boolean {
  const { stream_options: options } = body;
  if (options === undefined || options === null) return false;
  if (!isObject(options)) throw invalidField("stream_options", "must be an object");
  if (!isStream(body)) throw invalidField("stream_options", "is only allowed with stream");
  return readBoolean(options, "include_usage", "stream_options") ?? false;
}

function readContextHeader({ headers }: WireCall): ContextId | undefined {
  for (const name of CONTEXT_HEADERS) {
    const id = headers[name];
    if (id === undefined || id === "") continue;
    if (id.length > LIMITS.idCharsMax || hasControlCharacters(id))
      throw invalidField(name, `must have 1 to ${LIMITS.idCharsMax} characters`);
    return id as ContextId;
  }
  return undefined;
}

// ---- POST /v1/responses --------------------------------------------------------------------------------------

export function decodeResponse(call: WireCall): Operation {
  const body = readBody(call);
  const agent = readAgent(call, body);
  checkOptions(body);
  const conversation = decodeInput(body);
  const previous = readId(body, "previous_response_id", "");
  const contextId = readConversation(body);
  if (previous !== undefined && contextId !== undefined)
    throw invalidField("conversation", "must not be used together with previous_response_id");
  const isJson = wantsJson(readObject(body, "text", "")?.format, "text.format");
  const follows =
    previous === undefined ? undefined : { ...parseResponseId(previous), field: "previous_response_id" };
  const send = toSend(call, body, conversation, {
    inputField: "input",
    contextId,
    follows: follows && defined<NonNullable<SendRequest["follows"]>>(follows),
    contextAnswers: "newest",
    earlier: conversation.earlier,
    structured: isJson ? { field: "text.format" } : undefined,
  });
  const isBackground = readBoolean(body, "background", "") ?? false;
  const isStored = readBoolean(body, "store", "") ?? true;
  if (isBackground && !isStored) throw invalidField("store", "must be true in the background");
  const form = ["response", isJson && "json", isBackground && "background"].filter(Boolean).join(" ");
  return toOperation(agent, send, form, isStream(body), isBackground);
}

function decodeInput(body: JsonObject): Conversation {
  const { input } = body;
  const instructions = readString(body, "instructions", "");
  const own = instructions ? [{ role: "system", content: instructions }] : [];
  if (typeof input === "string") {
    if (input === "") throw invalidField("input", "must not be empty");
    toText(input, "input");
    return decodeConversation([...own, { role: "user", content: input }], "input", decodeResponsePart);
  }
  if (!Array.isArray(input)) throw invalidField("input", "must be a string or an array of items");
  input.forEach((item, i) => {
    if (!isObject(item) || (item.type !== undefined && item.type !== "message"))
      throw invalidField(
        `input[${i}].type`,
        'must be "message": agents call their own tools and keep their own items',
      );
  });
  const { parts, earlier } = decodeConversation(input, "input", decodeResponsePart);
  if (own.length === 0) return { parts, earlier };
  return decodeConversation([...own, ...input], "input", decodeResponsePart);
}

function readConversation(body: JsonObject): ContextId | undefined {
  const { conversation } = body;
  if (conversation === undefined || conversation === null) return undefined;
  const id = isObject(conversation)
    ? readId(conversation, "id", "conversation")
    : readId(body, "conversation", "");
  if (id === undefined) throw invalidField("conversation", "must be an id, or an object with an id");
  return id as ContextId;
}

// ---- both ----------------------------------------------------------------------------------------------------

type SendExtras = Pick<
  SendRequest,
  "contextId" | "follows" | "contextAnswers" | "earlier" | "structured" | "inputField"
>;

function toSend(
  call: WireCall,
  body: JsonObject,
  { parts }: Conversation,
  { earlier, ...extras }: { [K in keyof SendExtras]: SendExtras[K] | undefined },
): SendRequest {
  return defined<SendRequest>({
    threadless: true,
    origin: "openai",
    shown: true,
    message: defined<SendRequest["message"]>({
      role: "user" as const,
      parts,
      metadata: readHints(body),
      referenceTaskIds: extras.follows && [extras.follows.taskId],
    }),
    ...extras,
    earlier: earlier?.length ? earlier : undefined,
    metadata: readLabels(body),
    acceptedOutputModes: extras.structured ? ["application/json"] : undefined,
    extensions: readExtensions(call),
  });
}

function toOperation(
  agent: Operation["agent"],
  send: SendRequest,
  form: string,
  streams: boolean,
  isBackground = false,
): Operation {
  if (streams) return { op: "stream", agent, send, form, view: VIEW, until: "settled" };
  return { op: "send", agent, send, form, view: VIEW, until: isBackground ? "accepted" : "settled" };
}
