import { defined, type JsonObject } from "../../lib/json.ts";
import { type ContextId, LIMITS, type TaskId, type TaskState, type View } from "../../model/index.ts";
import type { ListFilter, SendRequest, WireCall } from "../../ports/index.ts";
import { decodeSendParams, type SendSyntax } from "../shared/decode-send.ts";
import {
  getMember,
  invalidField,
  readBoolean,
  readId,
  readInteger,
  readString,
  requireId,
} from "../shared/fields.ts";
import { decodePushConfig } from "../shared/push-config.ts";
import { decodeV1Part } from "../shared/v1-parts.ts";
import { ROLES, STATES } from "./names.ts";
import { V1_SCHEMA } from "./schema.ts";

/** `origin`: the dialect of the calls. */
export const createSendSyntax = (origin: string): SendSyntax => ({
  origin,
  // ProtoJSON accepts the number of an enum value.
  roles: [ROLES.user, ROLES.agent, 1, 2],
  contextAnswers: "one",
  decodePart: decodeV1Part,
  pushMember: "taskPushNotificationConfig",
  decodePush: (call, from, path) => decodePushConfig(call, from, path, origin),
});

export function decodeSend(
  call: WireCall,
  params: JsonObject,
  syntax: SendSyntax,
): { send: SendRequest; view: View; returnImmediately: boolean } {
  const { send, view, configuration } = decodeSendParams(call, params, syntax);
  // `blocking` is its name in v0.3, inverted; clients that were moved to v1 still send it.
  const returnImmediately =
    readBoolean(configuration, "returnImmediately", "configuration") ??
    readBoolean(configuration, "blocking", "configuration") === false;
  return { send, view, returnImmediately };
}

export const decodeTaskId = (params: JsonObject): TaskId => requireId(params, "id", "") as TaskId;

export function decodeFilter(params: JsonObject): ListFilter {
  return defined<ListFilter>({
    contextId: readId(params, "contextId", "") as ContextId | undefined,
    state: decodeState(params),
    statusSince: readTimestamp(params, "statusTimestampAfter"),
    pageSize:
      readInteger(params, "pageSize", "", { min: 1, max: LIMITS.pageSizeMax }) ?? LIMITS.pageSizeDefault,
    pageToken: readString(params, "pageToken", "") || undefined,
  });
}

const STATE_NAMES = Object.keys(STATES) as readonly TaskState[];

function decodeState(params: JsonObject): TaskState | undefined {
  const value = getMember(params, "status");
  // ProtoJSON: the first value of an enum is its default and means that the field was not set.
  if (value === undefined || value === V1_SCHEMA.enums.TaskState[0] || value === 0) return undefined;
  const state =
    typeof value === "number" ? STATE_NAMES[value - 1] : STATE_NAMES.find(one => STATES[one] === value);
  if (state === undefined) throw invalidField("status", `must be one of ${Object.values(STATES).join(", ")}`);
  return state;
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function readTimestamp(params: JsonObject, name: string): number | undefined {
  const value = readString(params, name, "");
  if (value === undefined || value === "") return undefined;
  const ms = TIMESTAMP.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidField(name, "must be a timestamp such as 2026-01-31T12:00:00.000Z");
  return ms;
}
