import { defined, type JsonObject } from "../../lib/json.ts";
import { type ContextId, LIMITS, type TaskId, type TaskState, type View } from "../../model/index.ts";
import type { ListFilter, Send, WireCall } from "../../ports/index.ts";
import { readPart } from "../shared/member-parts.ts";
import { readPush } from "../shared/push-config.ts";
import { bad, member, needId, readCount, readFlag, readId, readText } from "../shared/read.ts";
import { readSend as readOfficialSend, type Spelling } from "../shared/send.ts";
import { STATES, STATES_BY_NUMBER } from "./names.ts";

export function readSend(call: WireCall, params: JsonObject): { send: Send; view: View; atOnce: boolean } {
  const { send, view, configuration } = readOfficialSend(call, params, SPELLING);
  return { send, view, atOnce: readFlag(configuration, "returnImmediately", "configuration") ?? false };
}

const SPELLING: Spelling = {
  origin: "v1",
  user: ["ROLE_USER", 1],
  readPart,
  push: "taskPushNotificationConfig",
  readPush: (call, from, path) => readPush(call, from, path, "v1"),
};

export const readTask = (params: JsonObject): TaskId => needId(params, "id", "") as TaskId;

export function readFilter(params: JsonObject): ListFilter {
  return defined<ListFilter>({
    contextId: readId(params, "contextId", "") as ContextId | undefined,
    state: readState(params),
    statusSince: readTime(params, "statusTimestampAfter"),
    pageSize:
      readCount(params, "pageSize", "", { min: 1, max: LIMITS.pageSizeMax }) ?? LIMITS.pageSizeDefault,
    pageToken: readText(params, "pageToken", "") || undefined,
  });
}

function readState(params: JsonObject): TaskState | undefined {
  const value = member(params, "status");
  // ProtoJSON: the first value of an enum is its default, which means that it was not set.
  if (value === undefined || value === "TASK_STATE_UNSPECIFIED" || value === 0) return undefined;
  const state =
    typeof value === "number"
      ? STATES_BY_NUMBER[value - 1]
      : STATES_BY_NUMBER.find(one => STATES[one] === value);
  if (state === undefined) throw bad("status", `must be one of ${Object.values(STATES).join(", ")}`);
  return state;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function readTime(params: JsonObject, name: string): number | undefined {
  const value = readText(params, name, "");
  if (value === undefined || value === "") return undefined;
  const ms = TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw bad(name, "must be a timestamp such as 2026-01-31T12:00:00.000Z");
  return ms;
}
