import { defined, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Part, type TaskId } from "../../model/index.ts";
import type { ListFilter, Send, WireCall } from "../../ports/index.ts";
import { readPart as readKindPart } from "../shared/kind-read.ts";
import { readPart as readMemberPart } from "../shared/member-parts.ts";
import { bad, isObject, readContextId, readParams, readTaskId } from "../shared/read.ts";
import { readSend as readOfficialSend, type Spelling } from "../shared/send.ts";
import { readPush } from "./push.ts";

const SPELLING: Spelling = {
  origin: "simple",
  user: ["user"],
  loose: true,
  readPart,
  push: "pushNotificationConfig",
  readPush,
};

/** `id` names a task that waits for its caller; the message may name it, too. Without either, the task is new. */
export function readSend(call: WireCall): Send {
  const params = readParams(call);
  const { send } = readOfficialSend(call, params, SPELLING);
  return defined<Send>({
    ...send,
    shown: true,
    taskId: readTaskId(params, "id", "") ?? send.taskId,
    contextId: send.contextId ?? readContextId(params, "contextId", ""),
  });
}

/** Content is told by the member that is there, whatever `kind` says; a file of v0.3 is understood as well. */
function readPart(from: JsonObject, path: string): Part {
  return isObject(from.file) ? readKindPart(from, path) : readMemberPart(from, path);
}

export function needTask(call: WireCall): TaskId {
  const { taskId } = readTask(call);
  if (taskId === undefined) throw bad("id", "is required and must be a non-empty string");
  return taskId;
}

export function readTask(call: WireCall): { readonly taskId?: TaskId } {
  const params = call.params == null ? {} : readParams(call);
  const taskId = readTaskId(params, "id", "") ?? readTaskId(params, "taskId", "");
  return taskId === undefined ? {} : { taskId };
}

/** All tasks: as many as one answer can have. */
export const ALL: ListFilter = { pageSize: LIMITS.pageSizeMax };
