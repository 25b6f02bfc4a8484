import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { Part, TaskId } from "../../model/index.ts";
import type { SendRequest, WireCall } from "../../ports/index.ts";
import { checkRole, type DecodePush } from "./decode-send.ts";
import {
  checkJson,
  decodeParts,
  getMember,
  invalidField,
  isObject,
  readMetadata,
  readParams,
  requireId,
  requireObject,
} from "./fields.ts";
import { DEFAULT_CONFIG_ID, decodePushConfig } from "./push-config.ts";
import type { MethodTable } from "./routes.ts";
import { decodeV03Part, V03_ROLES } from "./v03-decode.ts";

/** Requests in the shape of v0.1, which Orloj shares: parts have a `type`, messages no id, tasks one push config. */

/** Which JSON values a data part holds as they are; objects always. */
export type DataRule = (data: Json) => boolean;

export type DecodePart = (from: JsonObject, path: string) => Part;

export function decodeV01Message(params: JsonObject, decodePart: DecodePart): SendRequest["message"] {
  const from = requireObject(params, "message", "");
  checkRole(getMember(from, "role"), V03_ROLES);
  return defined<SendRequest["message"]>({
    role: "user" as const,
    parts: decodeParts(from, "parts", "message", decodePart),
    metadata: readMetadata(from, "message"),
  });
}

/** v0.2 renamed `type` to `kind`; the protocols differ in the data that they allow. */
export const createV01PartDecoder =
  (allowsData: DataRule): DecodePart =>
  (from, path) => {
    const type = getMember(from, "type");
    if (type !== "text" && type !== "file" && type !== "data")
      throw invalidField(`${path}.type`, 'must be "text", "file" or "data"');
    const { data } = from;
    if (type !== "data" || isObject(data)) return decodeV03Part({ ...from, kind: type }, path);
    if (data === undefined) throw invalidField(`${path}.data`, "is required");
    if (!allowsData(data)) throw invalidField(`${path}.data`, "must be an object or an array");
    checkJson(data, `${path}.data`);
    return defined<Part>({ kind: "data" as const, data, metadata: readMetadata(from, path) });
  };

const CONFIG = "pushNotificationConfig";

export const createV01PushDecoder =
  (origin: string): DecodePush =>
  (call, from, path) => ({ ...decodePushConfig(call, from, path, origin), id: DEFAULT_CONFIG_ID });

/** `tasks/pushNotification/set` with the config null deletes the config. */
export function createV01PushMethods(decodePush: DecodePush): MethodTable {
  return {
    "tasks/pushNotification/set"(call) {
      const taskId = requireTaskId(call);
      const config = readParams(call)[CONFIG];
      if (config === null) return { op: "push-delete", taskId, id: DEFAULT_CONFIG_ID };
      if (!isObject(config))
        throw invalidField(CONFIG, config === undefined ? "is required" : "must be an object");
      return { op: "push-set", taskId, config: decodePush(call, config, CONFIG), field: CONFIG };
    },
    "tasks/pushNotification/get": call => ({ op: "push-get", taskId: requireTaskId(call), none: "nothing" }),
  };
}

export const requireTaskId = (call: WireCall): TaskId => requireId(readParams(call), "id", "") as TaskId;
