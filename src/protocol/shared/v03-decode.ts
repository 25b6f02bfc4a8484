import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Part, TASK_STATES, type View } from "../../model/index.ts";
import type { ListFilter, SendRequest, WireCall } from "../../ports/index.ts";
import { type DecodePush, decodeSendParams, type SendSyntax } from "./decode-send.ts";
import {
  checkJson,
  getMember,
  invalidField,
  isObject,
  normalizeBase64,
  readBoolean,
  readContextId,
  readInteger,
  readMetadata,
  readString,
  requireObject,
} from "./fields.ts";
import { DEFAULT_CONFIG_ID, decodePushConfig } from "./push-config.ts";

/** Requests in the shape of v0.3, which v0.2, LangGraph and Arbiter share: parts have a `kind`. */

export function decodeV03Send(
  call: WireCall,
  params: JsonObject,
  origin: string,
): { send: SendRequest; view: View; blocking: boolean } {
  const syntax = { ...SYNTAX, origin, decodePush: createV03PushDecoder(origin) };
  const { send, view, configuration } = decodeSendParams(call, params, syntax);
  // v0.3 does not define the default; every SDK blocks.
  return { send, view, blocking: readBoolean(configuration, "blocking", "configuration") ?? true };
}

export const V03_ROLES = ["user", "agent"] as const;

const SYNTAX: Omit<SendSyntax, "origin" | "decodePush"> = {
  roles: V03_ROLES,
  contextAnswers: "one",
  decodePart: decodeV03Part,
  pushMember: "pushNotificationConfig",
};

/** Config ids came with v0.2.2: configs without an id replace each other. */
export const createV03PushDecoder =
  (origin: string): DecodePush =>
  (call, from, path) => ({ id: DEFAULT_CONFIG_ID, ...decodePushConfig(call, from, path, origin) });

export function decodeV03Part(from: JsonObject, path: string): Part {
  const metadata = readMetadata(from, path);
  switch (getMember(from, "kind")) {
    case "text": {
      const text = readString(from, "text", path);
      if (text === undefined) throw invalidField(`${path}.text`, "is required");
      return metadata ? { kind: "text", text, metadata } : { kind: "text", text };
    }
    case "file":
      return decodeV03File(requireObject(from, "file", path), `${path}.file`, metadata);
    case "data":
      return decodeV03Data(from, path, metadata);
    default:
      throw invalidField(`${path}.kind`, 'must be "text", "file" or "data"');
  }
}

/** The members of a file. An example in the specification has `data` in place of `bytes`; some clients write `url`. */
const FILE_MEMBERS: FileMembers = { bytes: ["bytes", "data"], uri: ["uri", "url"] };

export interface FileMembers {
  readonly bytes: readonly string[];
  readonly uri: readonly string[];
}

export function decodeV03File(
  file: JsonObject,
  path: string,
  metadata: JsonObject | undefined,
  names: FileMembers = FILE_MEMBERS,
): Part {
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: readString(file, "name", path) || undefined,
    mediaType: readString(file, "mimeType", path) || undefined,
    metadata,
  });
  const [bytesName] = names.bytes;
  const [uriName] = names.uri;
  const readFirst = (members: readonly string[]): string | undefined =>
    members.map(name => readString(file, name, path)).find(text => text !== undefined);
  const bytes = readFirst(names.bytes);
  const uri = readFirst(names.uri);
  if ((bytes === undefined) === (uri === undefined))
    throw invalidField(path, `must have either ${bytesName} or ${uriName}`);
  if (bytes !== undefined)
    return { kind: "bytes", bytes: normalizeBase64(bytes, `${path}.${bytesName}`), ...extras };
  if (!URL.canParse(uri as string)) throw invalidField(`${path}.${uriName}`, "must be an absolute URI");
  return { kind: "url", url: uri as string, ...extras };
}

/** Data that is no object is wrapped, as the official SDKs do it: see v03-encode.ts. Arrays also come as they are. */
export function decodeV03Data(from: JsonObject, path: string, metadata: JsonObject | undefined): Part {
  const value = getMember(from, "data");
  if (!isObject(value) && !Array.isArray(value)) throw invalidField(`${path}.data`, "must be an object");
  checkJson(value, `${path}.data`);
  if (!isObject(value) || metadata?.data_part_compat !== true)
    return metadata ? { kind: "data", data: value, metadata } : { kind: "data", data: value };
  const { data_part_compat: _, ...rest } = metadata;
  const data: Json = value.value ?? null;
  return Object.keys(rest).length > 0 ? { kind: "data", data, metadata: rest } : { kind: "data", data };
}

export function decodeV03Filter(params: JsonObject): ListFilter {
  const status = getMember(params, "status");
  // v0.3 §6.3: the state names of v0.3 are the internal ones.
  const state = TASK_STATES.find(one => one === status);
  if (status !== undefined && state === undefined)
    throw invalidField("status", `must be one of ${TASK_STATES.join(", ")}`);
  return defined<ListFilter>({
    contextId: readContextId(params, "contextId", ""),
    state,
    pageSize:
      readInteger(params, "pageSize", "", { min: 1, max: LIMITS.pageSizeMax }) ?? LIMITS.pageSizeDefault,
    pageToken: readString(params, "pageToken", "") || undefined,
  });
}
