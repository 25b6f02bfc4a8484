import type { JsonObject } from "../../lib/json.ts";
import type { PushConfig, TaskId } from "../../model/index.ts";
import { type PushAnswer, writeConfig } from "../shared/kind-write.ts";
import { bad, needObject, readId, readObject, readText } from "../shared/read.ts";

/** Push as v0.3's definition has it: a config has a name that tells its task and itself. */

const toName = (taskId: TaskId, id: string): string => `tasks/${taskId}/pushNotificationConfigs/${id}`;
const NAME = /^tasks\/(.+?)\/pushNotificationConfigs\/(.*)$/s;
const TASK_NAME = /^tasks\/(.+)$/s;

/** `member`: where the name of a task stands. */
export function readTaskName(params: JsonObject, member: string): string {
  const [, id] = TASK_NAME.exec(readText(params, member, "") ?? "") ?? [];
  if (id === undefined) throw bad(member, "must be the name of a task: tasks/ID");
  return id;
}

/** By the names that the paths have for methods. */
const BY_PARENT: ReadonlySet<string> = new Set([
  "CreateTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
]);
const BY_NAME: ReadonlySet<string> = new Set([
  "GetTaskPushNotificationConfig",
  "DeleteTaskPushNotificationConfig",
]);

/** Whose configs a call is about, as the paths have it: gRPC has names instead. */
export function readPushNames(method: string, params: JsonObject): JsonObject {
  if (BY_PARENT.has(method)) return { ...params, taskId: readTaskName(params, "parent") };
  if (!BY_NAME.has(method)) return params;
  const [, taskId, id] = NAME.exec(readText(params, "name", "") ?? "") ?? [];
  if (taskId !== undefined && id !== undefined) return { taskId, id };
  throw bad("name", "must be the name of a config: tasks/ID/pushNotificationConfigs/ID");
}

/** The parameters that the same method has in the JSON schema. */
export function toSchemaParams(method: string, params: JsonObject): JsonObject {
  const { taskId = null, id = null, ...rest } = params;
  if (method === "CreateTaskPushNotificationConfig")
    return { taskId, pushNotificationConfig: readConfig(params) };
  if (BY_PARENT.has(method)) return { ...rest, id: taskId };
  return BY_NAME.has(method) ? { id: taskId, pushNotificationConfigId: id } : params;
}

/** The body of a path is the `config` of the definition; some clients send all of its request there. */
function readConfig(params: JsonObject): JsonObject {
  const inner = readObject(params, "config", "");
  const said = needObject(inner ?? params, "pushNotificationConfig", inner ? "config" : "");
  const [, , named] = NAME.exec(readText(inner ?? params, "name", "") ?? "") ?? [];
  const id = readId(params, "configId", "") ?? readId(said, "id", "pushNotificationConfig") ?? named;
  return id && id !== UNSAID ? { ...said, id } : said;
}

/** What the official client 0.3.14 writes on gRPC where no id was given. */
const UNSAID = "undefined";

export function toPushAnswer(answer: PushAnswer): JsonObject {
  switch (answer.kind) {
    case "push":
      return toNamed(answer);
    case "pushes":
      return { configs: answer.configs.map(toNamed), nextPageToken: answer.nextPageToken };
    case "nothing":
      return {};
  }
}

const toNamed = ({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject => ({
  name: toName(taskId, config.id),
  pushNotificationConfig: writeConfig(config),
});
