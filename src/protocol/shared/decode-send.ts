import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { NewPushConfig, Part, View } from "../../model/index.ts";
import type { PushFieldNames, SendRequest, WireCall } from "../../ports/index.ts";
import {
  decodeParts,
  getMember,
  invalidField,
  joinPath,
  readContextId,
  readId,
  readInteger,
  readMetadata,
  readObject,
  readRequestMetadata,
  readStrings,
  readTaskId,
  requireId,
  requireObject,
} from "./fields.ts";
import { readExtensions } from "./headers.ts";

/** The differences between the protocols that send `{ message, configuration, metadata }`. */
export interface SendSyntax {
  readonly origin: string;
  /** The accepted values of `role`: callers that are agents themselves say that they are. All are read as the caller. */
  readonly roles: readonly Json[];
  /** Role and messageId may be missing. */
  readonly isLenient?: true;
  /** See `SendRequest`. */
  readonly contextAnswers?: "one";
  /** The member of a message with its parts, if it is not `parts`. */
  readonly partsMember?: string;
  readonly decodePart: (from: JsonObject, path: string) => Part;
  /** The member of `configuration` with a push config. */
  readonly pushMember: string;
  readonly decodePush: DecodePush;
  readonly pushNames?: PushFieldNames;
}
export type DecodePush = (call: WireCall, from: JsonObject, path: string) => NewPushConfig;

const CONFIGURATION = "configuration";

export function decodeSendParams(
  call: WireCall,
  params: JsonObject,
  syntax: SendSyntax,
): { readonly send: SendRequest; readonly view: View; readonly configuration: JsonObject } {
  const { taskId, contextId, ...message } = decodeMessage(requireObject(params, "message", ""), syntax);
  const configuration = readObject(params, CONFIGURATION, "") ?? {};
  const send = defined<SendRequest>({
    origin: syntax.origin,
    message,
    taskId,
    contextId,
    contextAnswers: syntax.contextAnswers,
    metadata: readRequestMetadata(params),
    acceptedOutputModes: readStrings(configuration, "acceptedOutputModes", CONFIGURATION),
    extensions: readExtensions(call),
    push: decodeInlinePush(call, configuration, CONFIGURATION, syntax),
  });
  return { send, view: decodeView(configuration, CONFIGURATION), configuration };
}

/** The push config inside a send; `path`: of the object that holds it. */
export function decodeInlinePush(
  call: WireCall,
  from: JsonObject,
  path: string,
  { pushMember, decodePush, pushNames }: Pick<SendSyntax, "pushMember" | "decodePush" | "pushNames">,
): SendRequest["push"] {
  const config = readObject(from, pushMember, path);
  const field = joinPath(path, pushMember);
  return config && { field, config: decodePush(call, config, field), ...(pushNames && { names: pushNames }) };
}

function decodeMessage(from: JsonObject, syntax: SendSyntax): SendRequest["message"] {
  const path = "message";
  const { isLenient, roles } = syntax;
  checkRole(getMember(from, "role") ?? (isLenient && roles[0]), roles);
  return defined<SendRequest["message"]>({
    messageId: isLenient ? readId(from, "messageId", path) : requireId(from, "messageId", path),
    role: "user" as const,
    parts: decodeParts(from, syntax.partsMember ?? "parts", path, syntax.decodePart),
    taskId: readTaskId(from, "taskId", path),
    contextId: readContextId(from, "contextId", path),
    metadata: readMetadata(from, path),
    extensions: readStrings(from, "extensions", path),
    referenceTaskIds: readStrings(from, "referenceTaskIds", path),
  });
}

export function checkRole(role: Json | undefined, roles: readonly Json[]): void {
  if (role !== undefined && roles.includes(role)) return;
  const names = roles.filter(one => typeof one === "string").map(one => `"${one}"`);
  throw invalidField("message.role", `must be ${names.join(" or ")}`);
}

const HISTORY_RANGE = { min: 0, max: 2 ** 31 - 1 };

export function decodeView(from: JsonObject, path: string, artifacts = true): View {
  const historyMax = readInteger(from, "historyLength", path, HISTORY_RANGE);
  return historyMax === undefined ? { artifacts } : { artifacts, historyMax };
}
