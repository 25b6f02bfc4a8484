import { LIMITS } from "../../model/index.ts";
import {
  count,
  list,
  type Members,
  object,
  record,
  ref,
  type Schema,
  text,
  told,
  url,
  word,
} from "./schema.ts";
import type { Method } from "./vocabulary.ts";

/** What is told of push, by the operations that are asked for. */
export type PushMethods = Readonly<
  Record<"pushSet" | "pushGet" | "pushList" | "pushDelete", Pick<Method, "needed" | "optional" | "answer">>
>;

const TASK = told("The task", text);
const ID = told("The config: without one, the server chooses it", text);
const MORE: Members = {
  token: told("Sent back with each delivery, as X-A2A-Notification-Token", text),
  events: told("status: what goes into artifacts is not delivered", word("all", "status")),
  secret: told("Shared with the webhook: deliveries are signed with it", text),
};

const one = (schema: Schema): Method["answer"] => ({ kind: "one", schema });
const pageOf = (config: Schema): Schema =>
  object({ configs: list(config), nextPageToken: told("Empty on the last page", text) });
const PAGING: Members = {
  pageSize: { ...count, maximum: LIMITS.pageSizeMax },
  pageToken: text,
};

// ---- v1.0: flat ----------------------------------------------------------------------------------------------

const V1_CONFIG: Members = {
  ...MORE,
  authentication: object({ scheme: told("Such as Bearer", text) }, { credentials: text }),
};

export const V1_PUSH_SCHEMAS: Members = {
  V1TaskPushNotificationConfig: object({ url }, { id: ID, taskId: TASK, ...V1_CONFIG }),
  V1ListTaskPushNotificationConfigsResponse: pageOf(ref("V1TaskPushNotificationConfig")),
};

const CONFIG_OF = { taskId: TASK, id: told("The config", text) };

export const V1_PUSH: PushMethods = {
  pushSet: {
    needed: { taskId: TASK, url },
    optional: { id: ID, ...V1_CONFIG },
    answer: one(ref("V1TaskPushNotificationConfig")),
  },
  pushGet: { needed: CONFIG_OF, optional: {}, answer: one(ref("V1TaskPushNotificationConfig")) },
  pushList: {
    needed: { taskId: TASK },
    optional: PAGING,
    answer: one(ref("V1ListTaskPushNotificationConfigsResponse")),
  },
  pushDelete: { needed: CONFIG_OF, optional: {}, answer: one(record) },
};

// ---- v0.3: the config in an object that tells its task -------------------------------------------------------

const V03_CONFIG = ref("V03PushNotificationConfig");
const V03_OF_TASK = ref("V03TaskPushNotificationConfig");
const V03_PROTO_OF_TASK = ref("V03ProtoTaskPushNotificationConfig");

export const V03_PUSH_SCHEMAS: Members = {
  V03PushNotificationConfig: object(
    { url },
    {
      id: told("The config: one without a name takes the place of the one before", text),
      ...MORE,
      authentication: object({ schemes: list(text) }, { credentials: text }),
    },
  ),
  V03TaskPushNotificationConfig: object({ taskId: TASK, pushNotificationConfig: V03_CONFIG }),
  V03ProtoTaskPushNotificationConfig: object(
    { pushNotificationConfig: V03_CONFIG },
    { name: told("tasks/ID/pushNotificationConfigs/ID", text) },
  ),
  V03ProtoListTaskPushNotificationConfigResponse: pageOf(V03_PROTO_OF_TASK),
};

const CONFIG_ID = { pushNotificationConfigId: told("The config", text) };

export const V03_PUSH: PushMethods = {
  pushSet: {
    needed: { taskId: TASK, pushNotificationConfig: V03_CONFIG },
    optional: {},
    answer: one(V03_OF_TASK),
  },
  pushGet: { needed: { id: TASK }, optional: CONFIG_ID, answer: one(V03_OF_TASK) },
  pushList: { needed: { id: TASK }, optional: {}, answer: one(list(V03_OF_TASK)) },
  pushDelete: { needed: { id: TASK, ...CONFIG_ID }, optional: {}, answer: one({ type: "null" }) },
};

export const V03_PROTO_PUSH: PushMethods = {
  pushSet: {
    needed: { taskId: TASK, pushNotificationConfig: V03_CONFIG },
    optional: { name: text },
    answer: one(V03_PROTO_OF_TASK),
  },
  pushGet: { needed: CONFIG_OF, optional: {}, answer: one(V03_PROTO_OF_TASK) },
  pushList: {
    needed: { taskId: TASK },
    optional: PAGING,
    answer: one(ref("V03ProtoListTaskPushNotificationConfigResponse")),
  },
  pushDelete: { needed: CONFIG_OF, optional: {}, answer: one(record) },
};
