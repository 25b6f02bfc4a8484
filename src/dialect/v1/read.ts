import {
  type ContextId,
  defined,
  type JsonObject,
  LIMITS,
  type Part,
  type TaskId,
  type TaskState,
  type View,
} from "../../model/index.ts";
import type { ListFilter, Send, WireCall } from "../../ports.ts";
import {
  bad,
  checkJson,
  member,
  needId,
  readBase64,
  readCount,
  readFlag,
  readId,
  readMetadata,
  readText,
} from "../read.ts";
import { readSend as readOfficialSend, type Spelling } from "../send.ts";
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
};

const CONTENTS = ["text", "raw", "url", "data"] as const;

/** v1 §4.1.6: exactly one of four; which one it is, is which one is there. `data: null` is a value. */
function readPart(from: JsonObject, path: string): Part {
  const there = CONTENTS.filter(name =>
    name === "data" ? from.data !== undefined : member(from, name) !== undefined,
  );
  if (there.length !== 1) throw bad(path, "must have exactly one of text, raw, url, data");
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: readText(from, "filename", path) || undefined,
    mediaType: readText(from, "mediaType", path) || undefined,
    metadata: readMetadata(from, path),
  });
  switch (there[0] as (typeof CONTENTS)[number]) {
    case "text":
      return { kind: "text", text: readText(from, "text", path) as string, ...extras };
    case "raw":
      return {
        kind: "bytes",
        bytes: readBase64(readText(from, "raw", path) as string, `${path}.raw`),
        ...extras,
      };
    case "url":
      return { kind: "url", url: needUrl(from, path), ...extras };
    case "data": {
      const data = from.data ?? null;
      checkJson(data, `${path}.data`);
      return { kind: "data", data, ...extras };
    }
  }
}

function needUrl(from: JsonObject, path: string): string {
  const url = readText(from, "url", path) as string;
  if (!URL.canParse(url)) throw bad(`${path}.url`, "must be an absolute URL");
  return url;
}

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
