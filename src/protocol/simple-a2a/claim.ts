import type { Json } from "../../lib/json.ts";
import type { WireCall } from "../../ports/index.ts";
import { isObject } from "../shared/read.ts";
import { versionOf } from "../shared/version.ts";

/** v0.1 has the same methods, but for the last two: who sets a config is told by its words, who gets one by the config. */
const SENDS: ReadonlySet<string> = new Set(["tasks/send", "tasks/sendSubscribe"]);
const PUSH = /^tasks\/pushNotification\/(?:set|get|list|delete)$/;
const OWN_PUSH = /^tasks\/pushNotification\/(?:list|delete)$/;
/** v0.3 has the same methods, and decodes them for all generations (R7). */
const SHARED: ReadonlySet<string> = new Set(["tasks/get", "tasks/cancel", "tasks/resubscribe"]);

/** Whether a call is meant for this dialect, at a path where the official ones are spoken, too: R6, R8. */
export function isOurs(call: WireCall): boolean {
  const { method, params } = call;
  const version = versionOf(call);
  if (version === "0.1") return false;
  if (version === "unknown") return call.endpoint === "/" && (SENDS.has(method) || PUSH.test(method));
  if (SENDS.has(method)) return hasOurParts(params);
  if (method === "tasks/list") return call.endpoint === "/" && isUnnamed(version) && isEmpty(params);
  if (SHARED.has(method)) return isObject(params) && params.taskId !== undefined && params.id === undefined;
  return OWN_PUSH.test(method) || (method === "tasks/pushNotification/set" && hasOurConfig(params));
}

/** 0.2 and 0.3 are versions whose shapes are known; v1.0 has no method of this spelling. */
const isUnnamed = (version: string | undefined): boolean => version === undefined || version === "1.0";

/** Parts of v0.1 tell their `type`, and its messages have no id. */
function hasOurParts(params: Json | undefined): boolean {
  const message = isObject(params) && isObject(params.message) ? params.message : {};
  const parts = Array.isArray(message.parts) ? message.parts.filter(isObject) : [];
  if (parts.some(part => part.type !== undefined)) return false;
  return parts.some(part => part.kind !== undefined) || message.messageId !== undefined;
}

function hasOurConfig(params: Json | undefined): boolean {
  const config = isObject(params) ? params.pushNotificationConfig : undefined;
  return isObject(config) && (config.webhookUrl !== undefined || config.authenticationInfo !== undefined);
}

const isEmpty = (params: Json | undefined): boolean =>
  params === undefined || params === null || (isObject(params) && Object.keys(params).length === 0);
