import type { TaskId } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";
import { createPushReader, readKindSend } from "./kind-read.ts";
import type { Methods } from "./methods.ts";
import { needId, needObject, readId, readLastEventId, readMetadata, readMissed, readParams } from "./read.ts";
import { readView } from "./send.ts";

/** The methods that all versions before 1.0 share, with the same parameters. */
export const SHARED = {
  "tasks/get": call => ({ op: "get", taskId: taskOf(call), view: readView(readParams(call), "") }),
  "tasks/cancel": call => ({ op: "cancel", taskId: taskOf(call), again: "fault" }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: taskOf(call),
    from: readLastEventId(call),
    until: "terminal",
    ended: "snapshot",
  }),
} satisfies Methods;

/**
 * The methods that v0.2 and v0.3 share, and the dialects that grew from them. `origin`: in which of them tasks are made;
 * `readSend`: how a send is spelled.
 */
export function createKindMethods(origin: string, readSend = readKindSend): Methods {
  return {
    "message/send"(call) {
      const { send, view, blocking } = readSend(call, readParams(call), origin);
      return { op: "send", send, view, until: blocking ? "settled" : "accepted" };
    },
    "message/stream"(call) {
      const { send, view } = readSend(call, readParams(call), origin);
      return { op: "stream", send, view, until: "asked", ...readMissed(call) };
    },
    ...SHARED,
    ...createPushMethods(origin),
  };
}

/** Their methods for push; a config may be asked for by its task alone. */
export function createPushMethods(origin: string): Methods {
  const readPush = createPushReader(origin);
  return {
    "tasks/pushNotificationConfig/set"(call) {
      const params = readParams(call);
      const config = readPush(call, needObject(params, CONFIG, ""), CONFIG);
      return { op: "push-set", taskId: needId(params, "taskId", "") as TaskId, config, field: CONFIG };
    },
    "tasks/pushNotificationConfig/get"(call) {
      const id = readId(readParams(call), CONFIG_ID, "");
      return { op: "push-get", taskId: taskOf(call), ...(id !== undefined && { id }), none: "fault" };
    },
    "tasks/pushNotificationConfig/list": call => ({ op: "push-list", taskId: taskOf(call) }),
    "tasks/pushNotificationConfig/delete": call => ({
      op: "push-delete",
      taskId: taskOf(call),
      id: needId(readParams(call), CONFIG_ID, ""),
    }),
  };
}

const CONFIG = "pushNotificationConfig";
const CONFIG_ID = "pushNotificationConfigId";

export function taskOf(call: WireCall): TaskId {
  const params = readParams(call);
  readMetadata(params, "");
  return needId(params, "id", "") as TaskId;
}
