import type { JsonObject } from "../../lib/json.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { decodeView } from "../shared/decode-send.ts";
import { readParams } from "../shared/fields.ts";
import { readPaging } from "../shared/push-config.ts";
import { REST_PATHS } from "../shared/rest-paths.ts";
import {
  CARD_ROUTES,
  createRestRoutes,
  decodeMethod,
  decodeRestParams,
  JSON_RPC_ROUTES,
  type MethodTable,
  V03_PREFIX,
} from "../shared/routes.ts";
import { decodeV03Filter } from "../shared/v03-decode.ts";
import { createV03Methods, decodeTaskId } from "../shared/v03-routes.ts";
import {
  decodeProtoSend,
  decodeProtoState,
  isProtoForm,
  readResourceNames,
  toSchemaParams,
} from "./decode.ts";
import { GRPC_NAMES, METHOD_NAMES, type MethodName } from "./names.ts";
import { PROTO_FORM } from "./schema.ts";

/** v0.3 §7. `tasks/list` is of a later draft; some clients call it. */
export const METHODS: MethodTable = {
  ...createV03Methods("v03"),
  "tasks/list": call => ({
    op: "list",
    filter: decodeV03Filter(readParams(call)),
    view: decodeView(readParams(call), ""),
  }),
  "agent/getAuthenticatedExtendedCard": call => ({ op: "extended-card", base: call.base() }),
};

const PROTO_METHODS: MethodTable = {
  ...METHODS,
  ...createV03Methods("v03", decodeProtoSend),
  // Only the proto form has pages of configs.
  "tasks/pushNotificationConfig/list": call => ({
    op: "push-list",
    taskId: decodeTaskId(call),
    ...readPaging(readParams(call)),
  }),
};

const PUSH_PATHS = REST_PATHS.filter(([, path]) => path.startsWith("/tasks/{taskId}/"));

/** HTTP+JSON: v0.3 §3.5.3; the definition has the paths of push configs in the singular. */
export const ROUTES: readonly Route[] = [
  ...JSON_RPC_ROUTES,
  ...CARD_ROUTES,
  ...createRestRoutes(V03_PREFIX, [
    ...REST_PATHS,
    ["GET", "/card", "GetExtendedAgentCard"],
    ...PUSH_PATHS.map(([verb, path, method]) => [verb, path.replace("tasks", "task"), method] as const),
  ]),
];

const toMethodName = (name: string): string => METHOD_NAMES[name as MethodName] ?? name;

export const decodeJsonRpc = (call: WireCall): Operation => decodeMethod(call, METHODS, "v0.3");

export function decodeRest(call: WireCall): Operation {
  const params = toSchemaParams(call.method, decodeRestParams(call));
  const methodCall = { ...call, params, method: toMethodName(call.method) };
  return isProtoForm(params) ? decodeProtoForm(methodCall, params) : decodeJsonRpc(methodCall);
}

export function decodeGrpc(call: WireCall): Operation {
  const [name = call.method] = GRPC_NAMES.find(([, own]) => own === call.method) ?? [];
  const params = toSchemaParams(name, readResourceNames(name, readParams(call)));
  return decodeProtoForm({ ...call, method: toMethodName(name) }, params);
}

function decodeProtoForm(call: WireCall, params: JsonObject): Operation {
  const { status } = params;
  const decoded = status === undefined ? params : { ...params, status: decodeProtoState(status) };
  const operation = decodeMethod({ ...call, params: decoded }, PROTO_METHODS, "v0.3");
  // In the definition 0 means that historyLength was not set.
  if ("view" in operation && operation.view.historyMax === 0)
    return { ...operation, view: { artifacts: operation.view.artifacts }, form: PROTO_FORM };
  return { ...operation, form: PROTO_FORM };
}
