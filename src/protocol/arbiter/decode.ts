import type { JsonObject } from "../../lib/json.ts";
import { Fault, type Part, type Seq } from "../../model/index.ts";
import type { SendRequest, WireCall } from "../../ports/index.ts";
import { decodeSendParams, type SendSyntax } from "../shared/decode-send.ts";
import {
  decodeParts,
  getMember,
  invalidField,
  isObject,
  readParams,
  readString,
  requireObject,
} from "../shared/fields.ts";
import { decodeFileUrl } from "../shared/file-url.ts";
import { readExtensions } from "../shared/headers.ts";
import { createV03PushDecoder, decodeV03Part, V03_ROLES } from "../shared/v03-decode.ts";

const SYNTAX: SendSyntax = {
  origin: "arbiter",
  roles: V03_ROLES,
  decodePart,
  pushMember: "pushNotificationConfig",
  decodePush: createV03PushDecoder("arbiter"),
};

/** A message always begins a new task: its `taskId` is ignored. */
export function decodeSend(call: WireCall): SendRequest {
  const { taskId: _, ...send } = decodeSendParams(call, readParams(call), SYNTAX).send;
  return { ...send, shown: true };
}

function decodePart(from: JsonObject, path: string): Part {
  const kind = getMember(from, "kind");
  if (kind === "text") return decodeV03Part(from, path);
  if (typeof kind !== "string") throw invalidField(`${path}.kind`, 'must be "text"');
  throw new Fault("content-type-not-supported", 'Unsupported part kind: only "text" is accepted', {
    field: path,
  });
}

/** The last event that the client has; 0: none. */
export function readSinceSeq(call: WireCall): Seq {
  const text = call.query.get("since_seq") ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw invalidField("since_seq", "must be the number of an event, or 0");
  return Number(text) as Seq;
}

// ---- POST /v1/orchestrate ------------------------------------------------------------------------------------

/** `message` is a text, or parts of text and images. */
export function decodeOrchestration(call: WireCall): SendRequest {
  const body = readBody(call);
  if (body.agent_def !== undefined)
    throw invalidField("agent_def", "is not supported: the agents of this server are files");
  return {
    origin: "arbiter",
    message: { role: "user", parts: decodeContent(body) },
    inputField: "message",
    shown: true,
    extensions: readExtensions(call),
  };
}

/** The agent that the body names. */
export const readAgentName = (call: WireCall): string | undefined =>
  readString(readBody(call), "agent", "") || undefined;

function readBody({ params }: WireCall): JsonObject {
  if (isObject(params)) return params;
  throw invalidField("body", "must be a JSON object");
}

function decodeContent(body: JsonObject): readonly Part[] {
  if (Array.isArray(body.message)) return decodeParts(body, "message", "", decodeContentPart);
  const text = readString(body, "message", "");
  if (text) return [{ kind: "text", text }];
  throw invalidField("message", "is required: a text, or an array of parts");
}

function decodeContentPart(from: JsonObject, path: string): Part {
  if (from.type === "text") return { kind: "text", text: requireText(from, "text", path) };
  if (from.type !== "image") throw invalidField(`${path}.type`, 'must be "text" or "image"');
  const source = requireObject(from, "source", path);
  const field = `${path}.source`;
  if (source.type === "url")
    return decodeFileUrl(requireText(source, "url", field), `${field}.url`, { isImage: true });
  if (source.type !== "base64") throw invalidField(`${field}.type`, 'must be "base64" or "url"');
  const type = requireText(source, "media_type", field);
  const data = requireText(source, "data", field);
  return decodeFileUrl(`data:${type};base64,${data}`, `${field}.data`, { isImage: true });
}

function requireText(from: JsonObject, name: string, path: string): string {
  const text = readString(from, name, path);
  if (text === undefined) throw invalidField(`${path}.${name}`, "is required");
  return text;
}
