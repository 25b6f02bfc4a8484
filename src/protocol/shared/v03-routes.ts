import type { TaskId } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";
import { decodeView } from "./decode-send.ts";
import { readId, readMetadata, readParams, requireId, requireObject } from "./fields.ts";
import { readLastEventId, readResumePoint } from "./headers.ts";
import type { MethodTable } from "./routes.ts";
import { createV03PushDecoder, decodeV03Send } from "./v03-decode.ts";

/** The method tables of v0.3, which v0.2, LangGraph and Arbiter share in part. */

/** The methods that all versions before 1.0 have, with the same parameters. */
export const TASK_METHODS = {
  "tasks/get": call => ({ op: "get", taskId: decodeTaskId(call), view: decodeView(readParams(call), "") }),
  "tasks/cancel": call => ({ op: "cancel", taskId: decodeTaskId(call), again: "fault" }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: decodeTaskId(call),
    from: readLastEventId(call),
    taskFirst: true,
    until: "terminal",
    ended: "snapshot",
  }),
} satisfies MethodTable;

/** `origin`: the dialect that tasks and push configs are created in. */
export function createV03Methods(origin: string, decodeSend = decodeV03Send): MethodTable {
  return {
    "message/send"(call) {
      const { send, view, blocking } = decodeSend(call, readParams(call), origin);
      return { op: "send", send, view, until: blocking ? "settled" : "accepted" };
    },
    "message/stream"(call) {
      const { send, view } = decodeSend(call, readParams(call), origin);
      return { op: "stream", send, view, until: "asked", ...readResumePoint(call) };
    },
    ...TASK_METHODS,
    ...createV03PushMethods(origin),
  };
}

export function createV03PushMethods(origin: string): MethodTable {
  const decodePush = createV03PushDecoder(origin);
  return {
    "tasks/pushNotificationConfig/set"(call) {
      const params = readParams(call);
      const config = decodePush(call, requireObject(params, CONFIG, ""), CONFIG);
      return { op: "push-set", taskId: requireId(params, "taskId", "") as TaskId, config, field: CONFIG };
    },
    "tasks/pushNotificationConfig/get"(call) {
      // Without a config id: the only config of the task, or the first.
      const id = readId(readParams(call), CONFIG_ID, "");
      return { op: "push-get", taskId: decodeTaskId(call), ...(id !== undefined && { id }), none: "fault" };
    },
    "tasks/pushNotificationConfig/list": call => ({ op: "push-list", taskId: decodeTaskId(call) }),
    "tasks/pushNotificationConfig/delete": call => ({
      op: "push-delete",
      taskId: decodeTaskId(call),
      id: requireId(readParams(call), CONFIG_ID, ""),
    }),
  };
}

const CONFIG = "pushNotificationConfig";
const CONFIG_ID = "pushNotificationConfigId";

export function decodeTaskId(call: WireCall): TaskId {
  const params = readParams(call);
  readMetadata(params, "");
  return requireId(params, "id", "") as TaskId;
}
