import type { Json } from "../../lib/json.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { isObject, readParams, requireObject } from "../shared/fields.ts";
import { readLastEventIdOrBeginning, readResumePoint, readVersion } from "../shared/headers.ts";
import { DEFAULT_CONFIG_ID } from "../shared/push-config.ts";
import { decodeMethod as decodeByTable, type MethodTable, type VendorProfile } from "../shared/routes.ts";
import { decodePush, decodeSend, decodeTask, LIST_FILTER, PUSH_NAMES, requireTask } from "./decode.ts";

// ---- paths ---------------------------------------------------------------------------------------------------

const DOCUMENTED_ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/", method: "" },
  { transport: "document", verb: "GET", path: "/agentCard", method: "card" },
];
export const ROUTES: Readonly<Record<VendorProfile, readonly Route[]>> = {
  strict: DOCUMENTED_ROUTES,
  on: [
    ...DOCUMENTED_ROUTES,
    { transport: "jsonrpc", verb: "POST", path: "/agents/{agent}", method: "" },
    { transport: "document", verb: "GET", path: "/agents/{agent}/agentCard", method: "card" },
  ],
};

// ---- methods -------------------------------------------------------------------------------------------------

const CONFIG = "pushNotificationConfig";
const WITH_ARTIFACTS = { artifacts: true } as const;
/** Tasks have no history in this protocol. */
const WITHOUT_HISTORY = { artifacts: true, historyMax: 0 } as const;

const DOCUMENTED_METHODS: MethodTable = {
  "tasks/send": call => ({ op: "send", send: decodeSend(call), view: WITH_ARTIFACTS, until: "settled" }),
  "tasks/sendSubscribe": call => ({
    op: "stream",
    send: decodeSend(call),
    view: WITH_ARTIFACTS,
    until: "settled",
    ...readResumePoint(call),
  }),
  "tasks/get": call => ({ op: "get", taskId: requireTask(call), view: WITH_ARTIFACTS }),
  "tasks/list": () => ({ op: "list", filter: LIST_FILTER, view: WITHOUT_HISTORY, whole: true }),
  "tasks/cancel": call => ({ op: "cancel", taskId: requireTask(call), again: "fault" }),
  "tasks/pushNotification/set": call => ({
    op: "push-set",
    taskId: requireTask(call),
    config: decodePush(call, requireObject(readParams(call), CONFIG, ""), CONFIG),
    field: CONFIG,
    names: PUSH_NAMES,
  }),
  "tasks/pushNotification/get": call => ({ op: "push-get", taskId: requireTask(call), none: "nothing" }),
  "tasks/pushNotification/delete": call => ({
    op: "push-delete",
    taskId: requireTask(call),
    id: DEFAULT_CONFIG_ID,
  }),
  "tasks/pushNotification/list": call => ({ op: "push-list", ...decodeTask(call) }),
};

/** D11: with the method that the document lacks. There is no snapshot event, so every event is replayed. */
export const METHODS: MethodTable = {
  ...DOCUMENTED_METHODS,
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: requireTask(call),
    from: readLastEventIdOrBeginning(call),
    until: "terminal",
    ended: "fault",
  }),
};

export const decodeMethod = (call: WireCall, profile: VendorProfile): Operation =>
  decodeByTable(call, profile === "strict" ? DOCUMENTED_METHODS : METHODS, "simple_a2a");

// ---- calls at paths of the official protocols ----------------------------------------------------------------

/** Methods of v0.1, too. */
const SEND_METHODS: ReadonlySet<string> = new Set(["tasks/send", "tasks/sendSubscribe"]);
/** v0.1 has `set` and `get`, but not these. */
const OWN_PUSH_METHODS = /^tasks\/pushNotification\/(?:list|delete)$/;
/** Methods of v0.3, too, which decodes them for all older protocols (R7). */
const TASK_METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/cancel", "tasks/resubscribe"]);

/** Whether a call at a path that the official protocols share belongs to simple_a2a: R6, R8. */
export function isSimpleCall(call: WireCall): boolean {
  const { method, params } = call;
  const version = readVersion(call);
  if (version === "0.1") return false;
  if (version === "unknown") return call.endpoint === "/" && Object.hasOwn(DOCUMENTED_METHODS, method);
  if (SEND_METHODS.has(method)) return hasSimpleParts(params);
  if (method === "tasks/list") return call.endpoint === "/" && isVersionOpen(version) && isEmpty(params);
  if (TASK_METHODS.has(method))
    return isObject(params) && params.taskId !== undefined && params.id === undefined;
  return (
    OWN_PUSH_METHODS.test(method) || (method === "tasks/pushNotification/set" && hasSimpleConfig(params))
  );
}

/** The versions that the document allows. */
const isVersionOpen = (version: string | undefined): boolean => version !== "0.2";

/** Parts of v0.1 have a `type`, and its messages no id. */
function hasSimpleParts(params: Json | undefined): boolean {
  const message = isObject(params) && isObject(params.message) ? params.message : {};
  const parts = Array.isArray(message.parts) ? message.parts.filter(isObject) : [];
  if (parts.some(part => part.type !== undefined)) return false;
  return parts.some(part => part.kind !== undefined) || message.messageId !== undefined;
}

function hasSimpleConfig(params: Json | undefined): boolean {
  const config = isObject(params) ? params.pushNotificationConfig : undefined;
  return isObject(config) && (config.webhookUrl !== undefined || config.authenticationInfo !== undefined);
}

const isEmpty = (params: Json | undefined): boolean =>
  params === undefined || params === null || (isObject(params) && Object.keys(params).length === 0);
