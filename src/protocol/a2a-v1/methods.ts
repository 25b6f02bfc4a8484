import type { JsonObject } from "../../lib/json.ts";
import type { TaskId } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports/index.ts";
import { decodeMethod as decodeNamed, type Methods } from "../shared/methods.ts";
import { readPaging, readPush } from "../shared/push-config.ts";
import {
  isObject,
  needId,
  readFlag,
  readId,
  readLastEventId,
  readMetadata,
  readMissed,
  readParams,
} from "../shared/read.ts";
import { readView } from "../shared/send.ts";
import { readFilter, readSend, readTask } from "./decode.ts";

const readPushed = (params: JsonObject): TaskId => needId(params, "taskId", "") as TaskId;

/** v1 §5.3: every method, and what it asks for. */
export const METHODS: Methods = {
  SendMessage(call) {
    const { send, view, atOnce } = readSend(call, readParams(call));
    return { op: "send", send, view, until: atOnce ? "accepted" : "settled" };
  },
  SendStreamingMessage(call) {
    const { send, view } = readSend(call, readParams(call));
    return { op: "stream", send, view, until: "asked", ...readMissed(call) };
  },
  GetTask(call) {
    const params = readParams(call);
    return { op: "get", taskId: readTask(params), view: readView(params, "") };
  },
  ListTasks(call) {
    const params = readParams(call);
    const artifacts = readFlag(params, "includeArtifacts", "") ?? false;
    return { op: "list", filter: readFilter(params), view: readView(params, "", artifacts) };
  },
  CancelTask(call) {
    const params = readParams(call);
    readMetadata(params, "");
    return { op: "cancel", taskId: readTask(params), again: "task" };
  },
  SubscribeToTask: call => ({
    op: "subscribe",
    taskId: readTask(readParams(call)),
    from: readLastEventId(call),
    until: "terminal",
    ended: "fault",
  }),
  CreateTaskPushNotificationConfig(call) {
    const params = readParams(call);
    const config = readPush(call, params, "", "v1");
    return { op: "push-set", taskId: readPushed(params), config, field: "" };
  },
  GetTaskPushNotificationConfig(call) {
    const params = readParams(call);
    return { op: "push-get", taskId: readPushed(params), id: needId(params, "id", ""), none: "fault" };
  },
  ListTaskPushNotificationConfigs(call) {
    const params = readParams(call);
    return { op: "push-list", taskId: readPushed(params), ...readPaging(params) };
  },
  DeleteTaskPushNotificationConfig(call) {
    const params = readParams(call);
    return { op: "push-delete", taskId: readPushed(params), id: needId(params, "id", "") };
  },
  GetExtendedAgentCard: call => ({ op: "extended-card", base: call.base() }),
};

export function decodeMethod(call: WireCall): Operation {
  const operation = decodeNamed(call, METHODS, "v1.0");
  // Only one method does without parameters: v1 §9.4.
  const tenant = isObject(call.params) ? readId(call.params, "tenant", "") : undefined;
  return tenant === undefined ? operation : { ...operation, tenant };
}
