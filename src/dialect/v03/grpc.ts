import type { JsonObject } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports.ts";
import { bad, readParams, readText } from "../read.ts";
import { METHOD_NAMES } from "./names.ts";
import { decodeProto } from "./rest.ts";

/** Where gRPC has other names for the methods than the paths have. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  TaskSubscription: "SubscribeToTask",
  ListTaskPushNotificationConfig: "ListTaskPushNotificationConfigs",
  GetAgentCard: "GetExtendedAgentCard",
};

/** What is asked of one task: it is called `tasks/ID` there. */
const OF_TASK: ReadonlySet<string> = new Set(["GetTask", "CancelTask", "TaskSubscription"]);

export function decodeGrpc(call: WireCall): Operation {
  const name = OTHER_NAMES[call.method] ?? call.method;
  const params = readParams(call);
  const asked = { ...call, method: METHOD_NAMES[name] ?? name };
  return decodeProto(asked, OF_TASK.has(call.method) ? withId(params) : params);
}

function withId(params: JsonObject): JsonObject {
  const [, id] = /^tasks\/(.+)$/.exec(readText(params, "name", "") ?? "") ?? [];
  if (id === undefined) throw bad("name", "must be the name of a task: tasks/ID");
  return { ...params, id };
}
