import { defined, type JsonObject } from "../../lib/json.ts";
import {
  LIMITS,
  type NewPushConfig,
  type Part,
  type PushAuthentication,
  type TaskId,
} from "../../model/index.ts";
import type { ListFilter, PushFieldNames, SendRequest, WireCall } from "../../ports/index.ts";
import { decodeSendParams, type SendSyntax } from "../shared/decode-send.ts";
import {
  getMember,
  invalidField,
  isObject,
  readContextId,
  readObject,
  readParams,
  readString,
  readTaskId,
} from "../shared/fields.ts";
import { DEFAULT_CONFIG_ID, decodePushConfig, readSecret, requireToken } from "../shared/push-config.ts";
import { decodeV1Part } from "../shared/v1-parts.ts";
import { decodeV03Part, V03_ROLES } from "../shared/v03-decode.ts";

export const PUSH_NAMES: PushFieldNames = { url: "webhookUrl", header: "authenticationInfo.headerName" };

const SYNTAX: SendSyntax = {
  origin: "simple",
  roles: V03_ROLES,
  isLenient: true,
  decodePart,
  pushMember: "pushNotificationConfig",
  decodePush,
  pushNames: PUSH_NAMES,
};

/** `id`, or the message's `taskId`, names a task that waits for its caller; without either the task is new. */
export function decodeSend(call: WireCall): SendRequest {
  const params = readParams(call);
  const { send } = decodeSendParams(call, params, SYNTAX);
  return defined<SendRequest>({
    ...send,
    shown: true,
    taskId: readTaskId(params, "id", "") ?? send.taskId,
    contextId: send.contextId ?? readContextId(params, "contextId", ""),
  });
}

/** The member that is present decides, whatever `kind` says; file parts of v0.3 are accepted as well. */
function decodePart(from: JsonObject, path: string): Part {
  return isObject(from.file) ? decodeV03Part(from, path) : decodeV1Part(from, path);
}

export function requireTask(call: WireCall): TaskId {
  const { taskId } = decodeTask(call);
  if (taskId === undefined) throw invalidField("id", "is required and must be a non-empty string");
  return taskId;
}

export function decodeTask(call: WireCall): { readonly taskId?: TaskId } {
  const params = call.params == null ? {} : readParams(call);
  const taskId = readTaskId(params, "id", "") ?? readTaskId(params, "taskId", "");
  return taskId === undefined ? {} : { taskId };
}

/** `tasks/list` has no parameters; it is read in pages of the largest size. */
export const LIST_FILTER: ListFilter = { pageSize: LIMITS.pageSizeMax };

/** A task has one config. `url` and `authentication` of v0.1 are accepted beside simple_a2a's own members. */
export function decodePush(call: WireCall, from: JsonObject, path: string): NewPushConfig {
  const isV01 = getMember(from, "webhookUrl") === undefined && getMember(from, "url") !== undefined;
  const { authentication, ...push } = decodePushConfig(
    call,
    from,
    path,
    "simple",
    isV01 ? "url" : "webhookUrl",
  );
  return defined<NewPushConfig>({
    ...push,
    id: DEFAULT_CONFIG_ID,
    authentication: decodeAuthenticationInfo(from, path) ?? authentication,
  });
}

/** These schemes are sent before the value; for all others only the value is sent. */
const SENT_SCHEMES: ReadonlyMap<string, string> = new Map([
  ["bearer", "Bearer"],
  ["token", "Token"],
]);

function decodeAuthenticationInfo(from: JsonObject, path: string): PushAuthentication | undefined {
  const info = readObject(from, "authenticationInfo", path);
  if (!info) return undefined;
  const field = `${path}.authenticationInfo`;
  const scheme = readString(info, "scheme", field);
  if (!scheme) throw invalidField(`${field}.scheme`, "is required");
  const sent = SENT_SCHEMES.get(requireToken(scheme, `${field}.scheme`).toLowerCase());
  const header = readString(info, "headerName", field);
  return defined<PushAuthentication>({
    schemes: sent === undefined ? [] : [sent],
    credentials: readSecret(info, "value", field),
    header: header ? requireToken(header, `${field}.headerName`) : undefined,
  });
}
