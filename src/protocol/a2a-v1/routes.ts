import type { TaskId } from "../../model/index.ts";
import type { Operation, RequestHeaders, Route, WireCall } from "../../ports/index.ts";
import { decodeView } from "../shared/decode-send.ts";
import {
  invalidField,
  isObject,
  readBoolean,
  readId,
  readMetadata,
  readParams,
  readString,
  requireId,
} from "../shared/fields.ts";
import { readLastEventId, readResumePoint } from "../shared/headers.ts";
import { decodePushConfig, readPaging } from "../shared/push-config.ts";
import { REST_PATHS } from "../shared/rest-paths.ts";
import {
  CARD_ROUTES,
  createRestRoutes,
  decodeMethod as decodeMethodIn,
  decodeRestParams,
  JSON_RPC_ROUTES,
  type MethodTable,
  toEndpoints,
  V03_PREFIX,
} from "../shared/routes.ts";
import { createSendSyntax, decodeFilter, decodeSend, decodeTaskId } from "./decode.ts";

// ---- methods: v1 §5.3 ------------------------------------------------------------------------------------------

const decodePushTask = (call: WireCall): TaskId => requireId(readParams(call), "taskId", "") as TaskId;

/** `origin`: the dialect of the calls. */
export function createMethods(origin: string) {
  const syntax = createSendSyntax(origin);
  return {
    SendMessage(call: WireCall) {
      const { send, view, returnImmediately } = decodeSend(call, readParams(call), syntax);
      return { op: "send", send, view, until: returnImmediately ? "accepted" : "settled" };
    },
    SendStreamingMessage(call: WireCall) {
      const { send, view } = decodeSend(call, readParams(call), syntax);
      return { op: "stream", send, view, until: "asked", ...readResumePoint(call) };
    },
    GetTask(call: WireCall) {
      const params = readParams(call);
      return { op: "get", taskId: decodeTaskId(params), view: decodeView(params, "") };
    },
    ListTasks(call: WireCall) {
      const params = readParams(call);
      const artifacts = readBoolean(params, "includeArtifacts", "") ?? false;
      return { op: "list", filter: decodeFilter(params), view: decodeView(params, "", artifacts) };
    },
    CancelTask(call: WireCall) {
      const params = readParams(call);
      readMetadata(params, "");
      return { op: "cancel", taskId: decodeTaskId(params), again: "task" };
    },
    SubscribeToTask: (call: WireCall) => ({
      op: "subscribe",
      taskId: decodeTaskId(readParams(call)),
      from: readLastEventId(call),
      taskFirst: true,
      until: "terminal",
      ended: "fault",
    }),
    CreateTaskPushNotificationConfig(call: WireCall) {
      const config = decodePushConfig(call, readParams(call), "", origin);
      return { op: "push-set", taskId: decodePushTask(call), config, field: "" };
    },
    GetTaskPushNotificationConfig: (call: WireCall) => ({
      op: "push-get",
      taskId: decodePushTask(call),
      id: requireId(readParams(call), "id", ""),
      none: "fault",
    }),
    ListTaskPushNotificationConfigs: (call: WireCall) => ({
      op: "push-list",
      taskId: decodePushTask(call),
      ...readPaging(readParams(call)),
    }),
    DeleteTaskPushNotificationConfig: (call: WireCall) => ({
      op: "push-delete",
      taskId: decodePushTask(call),
      id: requireId(readParams(call), "id", ""),
    }),
    GetExtendedAgentCard: (call: WireCall) => ({ op: "extended-card", base: call.base() }),
  } satisfies MethodTable;
}

export const METHODS: MethodTable = createMethods("v1");

export function decodeMethod(call: WireCall, methods = METHODS, protocol = "v1.0"): Operation {
  const operation = decodeMethodIn(call, methods, protocol);
  // v1 §9.4: GetExtendedAgentCard may have no parameters.
  const tenant = isObject(call.params) ? readId(call.params, "tenant", "") : undefined;
  return tenant === undefined ? operation : { ...operation, tenant };
}

// ---- HTTP+JSON: v1 §11.3 ---------------------------------------------------------------------------------------

const PATHS: typeof REST_PATHS = [...REST_PATHS, ["GET", "/extendedAgentCard", "GetExtendedAgentCard"]];
/** The paths of a tenant with the name `v1` are those of v0.3. */
const TENANT_V1_ROUTES = createRestRoutes(V03_PREFIX, PATHS);

export const ROUTES: readonly Route[] = [
  ...JSON_RPC_ROUTES,
  ...CARD_ROUTES,
  { transport: "document", verb: "GET", path: "/agents", method: "agents" },
  { transport: "document", verb: "GET", path: "/", method: "agents" },
  ...createRestRoutes("", PATHS),
  ...createRestRoutes("/{tenant}", PATHS),
  ...TENANT_V1_ROUTES,
];

const TENANT_V1_ENDPOINTS = toEndpoints(TENANT_V1_ROUTES);
const V03_ENDPOINTS = toEndpoints(createRestRoutes(V03_PREFIX, REST_PATHS));

export const isV03Path = (endpoint: string): boolean => V03_ENDPOINTS.has(endpoint);

/** The call with its parameters in the form of JSON-RPC. */
export function toMethodCall(call: WireCall): WireCall {
  const tenant = readTenant(call);
  const params = decodeRestParams(call);
  return { ...call, params: tenant === undefined ? params : { ...params, tenant } };
}

function readTenant(call: WireCall): string | undefined {
  const inPath =
    call.vars.tenant ?? (TENANT_V1_ENDPOINTS.has(call.endpoint) ? V03_PREFIX.slice(1) : undefined);
  const inBody = isObject(call.params) ? readString(call.params, "tenant", "") : undefined;
  if (inPath !== undefined && inBody && inBody !== inPath)
    throw invalidField("tenant", "must be the tenant of the path");
  return inPath;
}

export const MEDIA_TYPE = "application/a2a+json";

/** v1 §11.2 recommends the media type; callers that do not name it get the one of edition 1.0.0. */
export const acceptsMediaType = (headers: RequestHeaders): boolean =>
  headers["content-type"]?.includes(MEDIA_TYPE) === true || headers.accept?.includes(MEDIA_TYPE) === true;
