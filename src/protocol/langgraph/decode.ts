import { defined, type JsonObject } from "../../lib/json.ts";
import { type ContextId, Fault, type Part, type TaskId, type View } from "../../model/index.ts";
import type { SendRequest, WireCall } from "../../ports/index.ts";
import { decodeSendParams, type SendSyntax } from "../shared/decode-send.ts";
import {
  getMember,
  invalidField,
  isObject,
  readBoolean,
  readId,
  readInteger,
  readObject,
  readParams,
} from "../shared/fields.ts";
import type { VendorProfile } from "../shared/routes.ts";
import { createV03PushDecoder, decodeV03Part, V03_ROLES } from "../shared/v03-decode.ts";

/** The text of the example in LangGraph's document. */
const missingParameter = (name: string): Fault =>
  new Fault("invalid-params", `Invalid request: Missing required parameter: ${name}`, { field: name });

const SYNTAX: SendSyntax = {
  origin: "langgraph",
  roles: V03_ROLES,
  decodePart,
  pushMember: "pushNotificationConfig",
  decodePush: createV03PushDecoder("langgraph"),
};
const REQUIRED = ["role", "parts", "messageId"];

/**
 * `taskId` continues a task of this context that waits for its caller; any other `taskId` (unknown, ended, of another
 * context or server) is ignored, and a new task begins (`stray`).
 */
export function decodeSend(
  call: WireCall,
  profile: VendorProfile,
): { send: SendRequest; view: View; blocking: boolean } {
  const params = readOptionalParams(call);
  const message = readObject(params, "message", "");
  if (!message) throw missingParameter("message");
  for (const name of REQUIRED)
    if (getMember(message, name) === undefined) throw missingParameter(`message.${name}`);
  // The document has only the message; configuration and metadata are those of v0.3.
  const accepted = profile === "strict" ? { message } : params;
  const { send, view, configuration } = decodeSendParams(call, accepted, SYNTAX);
  return {
    send: defined<SendRequest>({
      ...send,
      shown: true,
      stray: "new",
      taskId: send.taskId && removeContext(send.taskId, send.contextId),
      textInto: "messages",
    }),
    view,
    blocking: readBoolean(configuration, "blocking", "configuration") ?? true,
  };
}

function decodePart(from: JsonObject, path: string): Part {
  const kind = getMember(from, "kind");
  if (kind === "data" && !isObject(getMember(from, "data")))
    throw invalidField(`${path}.data`, "must be an object");
  if (kind === "text" || kind === "data") return decodeV03Part(from, path);
  if (typeof kind !== "string") throw invalidField(`${path}.kind`, 'must be "text" or "data"');
  throw new Fault(
    "content-type-not-supported",
    `Unsupported part kind "${kind.slice(0, 100)}": only "text" and "data" are accepted`,
    { field: path },
  );
}

/** A task id may be written as `contextId:taskId` (thread and run). */
function removeContext(taskId: TaskId, contextId: ContextId | undefined): TaskId {
  const prefix = `${contextId}:`;
  return contextId !== undefined && taskId.startsWith(prefix)
    ? (taskId.slice(prefix.length) as TaskId)
    : taskId;
}

/** The task that a call names; `tasks/get` and `tasks/cancel` require its context as well. */
export function requireTask(call: WireCall): { readonly taskId: TaskId; readonly contextId: ContextId } {
  const { taskId, contextId } = decodeTask(call);
  if (contextId === undefined) throw missingParameter("contextId");
  return { taskId, contextId };
}

export function decodeTask(call: WireCall): { readonly taskId: TaskId; readonly contextId?: ContextId } {
  const params = readOptionalParams(call);
  const id = readId(params, "id", "") as TaskId | undefined;
  if (id === undefined) throw missingParameter("id");
  const contextId = readId(params, "contextId", "") as ContextId | undefined;
  return defined({ taskId: removeContext(id, contextId), contextId });
}

/** Absent params are empty: the error then names the missing parameter. */
const readOptionalParams = (call: WireCall): JsonObject => (call.params == null ? {} : readParams(call));

const HISTORY_RANGE = { min: 0, max: 10 };

export function decodeView(call: WireCall): View {
  const historyMax = readInteger(readOptionalParams(call), "historyLength", "", HISTORY_RANGE);
  return defined<View>({ artifacts: true, historyMax });
}

/** The header Accept is required and must match the response of the method. */
export function checkAccept(call: WireCall, isStream: boolean): void {
  const type = isStream ? "text/event-stream" : "application/json";
  const group = type.replace(/\/.*/, "/*");
  const accepted = (call.headers.accept ?? "").split(",").map(one => (one.split(";")[0] as string).trim());
  if (accepted.some(one => [type, group, "*/*"].includes(one.toLowerCase()))) return;
  throw new Fault("invalid-request", `${call.method.slice(0, 100)} requires the header Accept: ${type}`, {
    field: "Accept",
  });
}
