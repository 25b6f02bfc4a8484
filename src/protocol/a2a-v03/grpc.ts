import type { JsonObject } from "../../lib/json.ts";
import type { Operation, WireCall } from "../../ports/index.ts";
import { readParams } from "../shared/read.ts";
import { METHOD_NAMES } from "./names.ts";
import { readPushNames, readTaskName, toSchemaParams } from "./push.ts";
import { decodeProto } from "./routes.ts";

/** Where gRPC has other names for the methods than the paths have. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  TaskSubscription: "SubscribeToTask",
  ListTaskPushNotificationConfig: "ListTaskPushNotificationConfigs",
  GetAgentCard: "GetExtendedAgentCard",
};

/** What is asked of one task: it is called `tasks/ID` there. */
const OF_TASK: ReadonlySet<string> = new Set(["GetTask", "CancelTask", "SubscribeToTask"]);

export function decodeGrpc(call: WireCall): Operation {
  const name = OTHER_NAMES[call.method] ?? call.method;
  const params = readParams(call);
  const asked = { ...call, method: METHOD_NAMES[name] ?? name };
  return decodeProto(asked, toSchemaParams(name, withIds(name, params)));
}

const withIds = (name: string, params: JsonObject): JsonObject =>
  OF_TASK.has(name) ? { ...params, id: readTaskName(params, "name") } : readPushNames(name, params);
