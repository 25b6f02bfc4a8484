import type { JsonObject } from "../../lib/json.ts";
import type { PushConfig, TaskId } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";
import type { Methods } from "./methods.ts";
import { ONLY, readPush, writePush } from "./push-config.ts";
import { bad, isObject, needId, readParams } from "./read.ts";
import type { ReadPush } from "./send.ts";

/** Push as v0.1 has it, and the dialects that grew from it: a task has one config, and callers know the task by their own id. */

const CONFIG = "pushNotificationConfig";

export const createOnlyReader =
  (origin: string): ReadPush =>
  (call, from, path) => ({ ...readPush(call, from, path, origin), id: ONLY });

/** `readPush`: how a config is spelled. To set none takes away the one that is there. */
export function createPushMethods(readPush: ReadPush): Methods {
  return {
    "tasks/pushNotification/set"(call) {
      const taskId = taskOf(call);
      const said = readParams(call)[CONFIG];
      if (said === null) return { op: "push-delete", taskId, id: ONLY };
      if (!isObject(said)) throw bad(CONFIG, said === undefined ? "is required" : "must be an object");
      return { op: "push-set", taskId, config: readPush(call, said, CONFIG), field: CONFIG };
    },
    "tasks/pushNotification/get": call => ({ op: "push-get", taskId: taskOf(call), none: "nothing" }),
  };
}

const taskOf = (call: WireCall): TaskId => needId(readParams(call), "id", "") as TaskId;

/** Under the id by which the caller knows the task: it may be his own. */
export const writePushOf = ({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject => ({
  id: taskId,
  [CONFIG]: writePush(config),
});
