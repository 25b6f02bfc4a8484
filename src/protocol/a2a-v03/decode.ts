/** The ProtoJSON form of v0.3 (HTTP+JSON, gRPC). Its JSON-RPC form, which v0.2 shares: `../shared/v03-decode.ts`. */
import type { Json, JsonObject } from "../../lib/json.ts";
import { type Part, TASK_STATES, type View } from "../../model/index.ts";
import type { SendRequest, WireCall } from "../../ports/index.ts";
import { STATES as V1_STATES } from "../a2a-v1/names.ts";
import { decodeSendParams, type SendSyntax } from "../shared/decode-send.ts";
import {
  getMember,
  invalidField,
  isObject,
  readBoolean,
  readId,
  readMetadata,
  readObject,
  readString,
  requireObject,
} from "../shared/fields.ts";
import { createV03PushDecoder, decodeV03Data, decodeV03File } from "../shared/v03-decode.ts";
import { PROTO_ROLES, PROTO_STATES } from "./names.ts";

/** Requests in the proto form: the ProtoJSON of v0.3's definition, with other names than its JSON schema and no `kind`. */

/** R9: the form of the message is the form of the request; a request without a message is in the proto form. */
export function isProtoForm(params: JsonObject): boolean {
  const { message } = params;
  if (!isObject(message)) return true;
  const { role } = message;
  if (getMember(message, "content") !== undefined || typeof role === "number") return true;
  return typeof role === "string" && role.startsWith("ROLE_");
}

export function decodeProtoSend(
  call: WireCall,
  params: JsonObject,
): { send: SendRequest; view: View; blocking: boolean } {
  const { send, view, configuration } = decodeSendParams(call, withMessage(params), SYNTAX);
  // ProtoJSON leaves out false: a configuration without `blocking` does not block, no configuration does.
  const hasConfiguration = readObject(params, "configuration", "") !== undefined;
  const blocking = readBoolean(configuration, "blocking", "configuration") ?? false;
  return { send: { ...send, partNames: PART_NAMES }, view, blocking: blocking || !hasConfiguration };
}

/** Data has a message of its own around it. */
const PART_NAMES = { parts: "message.content", data: "data.data" };

const SYNTAX: SendSyntax = {
  origin: "v03",
  roles: [PROTO_ROLES.user, PROTO_ROLES.agent, 1, 2],
  contextAnswers: "one",
  partsMember: "content",
  decodePart: decodeProtoPart,
  pushMember: "pushNotification",
  decodePush: createV03PushDecoder("v03"),
};

/** The published definition calls the message `request`; some clients call its content `parts`. */
function withMessage(params: JsonObject): JsonObject {
  const message = params.message ?? params.request;
  if (!isObject(message)) return params;
  return { ...params, message: { content: message.parts ?? null, ...message } };
}

const CONTENTS = ["text", "file", "data"] as const;
const FILE = { bytes: ["fileWithBytes"], uri: ["fileWithUri"] };

function decodeProtoPart(from: JsonObject, path: string): Part {
  const present = CONTENTS.filter(name => getMember(from, name) !== undefined);
  if (present.length !== 1) throw invalidField(path, `must have exactly one of ${CONTENTS.join(", ")}`);
  const metadata = readMetadata(from, path);
  switch (present[0] as (typeof CONTENTS)[number]) {
    case "text": {
      const text = readString(from, "text", path) as string;
      return metadata ? { kind: "text", text, metadata } : { kind: "text", text };
    }
    case "file":
      return decodeV03File(requireObject(from, "file", path), `${path}.file`, metadata, FILE);
    case "data":
      return decodeV03Data(requireObject(from, "data", path), `${path}.data`, metadata);
  }
}

/** An unknown name is returned as it is: the filter rejects it. Some clients spell `canceled` as in v1.0. */
export const decodeProtoState = (name: Json): Json =>
  TASK_STATES.find(state => PROTO_STATES[state] === name) ??
  (name === V1_STATES.canceled ? "canceled" : name);

// ---- resource names of gRPC, and push configs ------------------------------------------------------------------

const TASK_NAME = /^tasks\/(.+)$/s;
const CONFIG_NAME = /^tasks\/(.+?)\/pushNotificationConfigs\/(.*)$/s;

/** Methods by their names in v1.0. */
const OF_TASK: ReadonlySet<string> = new Set(["GetTask", "CancelTask", "SubscribeToTask"]);
const OF_PARENT: ReadonlySet<string> = new Set([
  "CreateTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
]);
const OF_CONFIG: ReadonlySet<string> = new Set([
  "GetTaskPushNotificationConfig",
  "DeleteTaskPushNotificationConfig",
]);

/** gRPC has resource names where the paths of HTTP have ids. */
export function readResourceNames(method: string, params: JsonObject): JsonObject {
  if (OF_TASK.has(method)) return { ...params, id: readTaskName(params, "name") };
  if (OF_PARENT.has(method)) return { ...params, taskId: readTaskName(params, "parent") };
  if (!OF_CONFIG.has(method)) return params;
  const [, taskId, id] = CONFIG_NAME.exec(readString(params, "name", "") ?? "") ?? [];
  if (taskId !== undefined && id !== undefined) return { taskId, id };
  throw invalidField("name", "must be the name of a config: tasks/ID/pushNotificationConfigs/ID");
}

function readTaskName(params: JsonObject, member: string): string {
  const [, id] = TASK_NAME.exec(readString(params, member, "") ?? "") ?? [];
  if (id === undefined) throw invalidField(member, "must be the name of a task: tasks/ID");
  return id;
}

/** The parameters of the same method in the JSON schema. */
export function toSchemaParams(method: string, params: JsonObject): JsonObject {
  const { taskId = null, id = null, ...rest } = params;
  if (method === "CreateTaskPushNotificationConfig")
    return { taskId, pushNotificationConfig: readPushConfig(params) };
  if (OF_PARENT.has(method)) return { ...rest, id: taskId };
  return OF_CONFIG.has(method) ? { id: taskId, pushNotificationConfigId: id } : params;
}

/** The official client 0.3.14 sends this on gRPC for a config without an id. */
const UNDEFINED_ID = "undefined";

/** The body over HTTP is the `config` of the request message; some clients send the whole request message. */
function readPushConfig(params: JsonObject): JsonObject {
  const inner = readObject(params, "config", "");
  const config = requireObject(inner ?? params, "pushNotificationConfig", inner ? "config" : "");
  const [, , named] = CONFIG_NAME.exec(readString(inner ?? params, "name", "") ?? "") ?? [];
  const id = readId(params, "configId", "") ?? readId(config, "id", "pushNotificationConfig") ?? named;
  return id && id !== UNDEFINED_ID ? { ...config, id } : config;
}
