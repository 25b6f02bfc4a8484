import type { JsonObject } from "../../lib/json.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { createKindMethods, taskOf } from "../shared/kind-methods.ts";
import { decodeMethod, type Methods } from "../shared/methods.ts";
import { readPaging } from "../shared/push-config.ts";
import { readParams } from "../shared/read.ts";
import { OLDER, PATHS, readRest, routesBelow } from "../shared/rest.ts";
import { isProto, readProtoSend, toState } from "./decode-proto.ts";
import { METHODS } from "./methods.ts";
import { METHOD_NAMES } from "./names.ts";
import { toSchemaParams } from "./push.ts";

const PUSH = PATHS.filter(([, path]) => path.startsWith("/tasks/{taskId}/"));

/** v0.3 §3.5.3; its definition has the paths of push in the singular. */
export const REST_ROUTES: readonly Route[] = routesBelow(OLDER, [
  ...PATHS,
  ["GET", "/card", "GetExtendedAgentCard"],
  ...PUSH.map(([verb, path, method]) => [verb, path.replace("tasks", "task"), method] as const),
]);

/** The form that is not the one of JSON-RPC. */
export const PROTO = "proto";

const PROTO_METHODS: Methods = {
  ...METHODS,
  ...createKindMethods("v03", readProtoSend),
  // Only here does a list come in pages.
  "tasks/pushNotificationConfig/list": call => ({
    op: "push-list",
    taskId: taskOf(call),
    ...readPaging(readParams(call)),
  }),
};

export function decodeRest(call: WireCall): Operation {
  const params = toSchemaParams(call.method, readRest(call));
  const asked = { ...call, params, method: METHOD_NAMES[call.method] ?? call.method };
  return isProto(params) ? decodeProto(asked, params) : decodeMethod(asked, METHODS, "v0.3");
}

/** In this form it is the same on every transport. */
export function decodeProto(call: WireCall, params: JsonObject): Operation {
  const operation = decodeMethod({ ...call, params: withState(params) }, PROTO_METHODS, "v0.3");
  return { ...withHistory(operation), form: PROTO };
}

const withState = (params: JsonObject): JsonObject =>
  params.status === undefined ? params : { ...params, status: toState(params.status) };

/** In the definition 0 is what a number is that nobody has set. */
function withHistory(operation: Operation): Operation {
  if (!("view" in operation) || operation.view.historyMax !== 0) return operation;
  return { ...operation, view: { artifacts: operation.view.artifacts } };
}
