import { TASK_STATES } from "../../model/index.ts";
import { CARD_SCHEMAS } from "./card.ts";
import { byPathNames, configurationWith, createMethods, pageOf } from "./methods.ts";
import { V03_PROTO_PUSH, V03_PUSH, V03_PUSH_SCHEMAS } from "./push.ts";
import {
  base64,
  either,
  flag,
  type Members,
  object,
  oneMember,
  only,
  record,
  ref,
  text,
  told,
  url,
} from "./schema.ts";
import { createShapes } from "./shapes.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * A2A 0.3 has two forms. In the one of its JSON schema everything tells its `kind`: that is JSON-RPC. The one of its
 * definition (`a2a.proto`) is HTTP+JSON, which takes sends in the other one, too, and then answers in it.
 */

const SHAPES = createShapes({
  prefix: "V03",
  // Its names are the ones that we use inside.
  states: TASK_STATES,
  roles: ["user", "agent"],
  part: {
    oneOf: [
      object({ kind: only("text"), text }, { metadata: record }),
      object(
        { kind: only("file"), file: oneMember({ bytes: base64, uri: url }, { name: text, mimeType: text }) },
        { metadata: record },
      ),
      object({ kind: only("data"), data: record }, { metadata: record }),
    ],
  },
  parts: "parts",
  kinds: true,
  final: true,
  references: true,
});

const PROTO_SHAPES = createShapes({
  prefix: "V03Proto",
  states: [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELLED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
  ],
  roles: ["ROLE_USER", "ROLE_AGENT"],
  part: oneMember(
    {
      text,
      file: oneMember({ fileWithBytes: base64, fileWithUri: url }, { name: text, mimeType: text }),
      data: object({ data: record }),
    },
    { metadata: record },
  ),
  parts: "content",
  kinds: false,
  final: true,
  references: false,
});

const ANSWERS: Members = {
  V03MessageSendConfiguration: configurationWith({
    blocking: told("Wait until the task has settled", flag),
    pushNotificationConfig: ref("V03PushNotificationConfig"),
    pushNotification: told("Its name in the other form", ref("V03PushNotificationConfig")),
  }),
  V03SendMessageResponse: either([ref("V03Task"), ref("V03Message")]),
  V03StreamResponse: either(
    ["Task", "Message", "TaskStatusUpdateEvent", "TaskArtifactUpdateEvent"].map(name => ref(`V03${name}`)),
  ),
  V03ProtoSendMessageResponse: oneMember({ task: ref("V03ProtoTask"), message: ref("V03ProtoMessage") }),
  V03ProtoStreamResponse: oneMember({
    task: ref("V03ProtoTask"),
    message: ref("V03ProtoMessage"),
    statusUpdate: ref("V03ProtoTaskStatusUpdateEvent"),
    artifactUpdate: ref("V03ProtoTaskArtifactUpdateEvent"),
  }),
  V03ListTasksResponse: pageOf(ref("V03Task")),
  V03ProtoListTasksResponse: pageOf(ref("V03ProtoTask")),
  V03Error: object({ code: told("The number that JSON-RPC has for it", { type: "integer" }), message: text }),
};

const methods = createMethods({
  message: ref("V03Message"),
  configuration: ref("V03MessageSendConfiguration"),
  sent: ref("V03SendMessageResponse"),
  step: ref("V03StreamResponse"),
  task: ref("V03Task"),
  page: ref("V03ListTasksResponse"),
  state: ref("V03TaskState"),
  filters: {},
  push: V03_PUSH,
  card: ref("V03AgentCard"),
  example: { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "Hello" }] },
});

const protoMethods = createMethods({
  message: either([ref("V03ProtoMessage"), ref("V03Message")]),
  configuration: ref("V03MessageSendConfiguration"),
  sent: either([ref("V03ProtoSendMessageResponse"), ref("V03SendMessageResponse")]),
  step: either([ref("V03ProtoStreamResponse"), ref("V03StreamResponse")]),
  task: ref("V03ProtoTask"),
  page: ref("V03ProtoListTasksResponse"),
  state: ref("V03ProtoTaskState"),
  filters: {},
  push: V03_PROTO_PUSH,
  card: ref("V03ProtoAgentCard"),
  example: { messageId: "m1", role: "ROLE_USER", content: [{ text: "Hello" }] },
});

export const V03: Vocabulary = {
  title: "A2A 0.3",
  version: "0.3",
  schemas: { ...SHAPES, ...PROTO_SHAPES, ...ANSWERS, ...V03_PUSH_SCHEMAS, ...CARD_SCHEMAS },
  rest: byPathNames(protoMethods),
  rpc: {
    "message/send": methods.send,
    "message/stream": methods.stream,
    "tasks/get": methods.get,
    "tasks/cancel": methods.cancel,
    "tasks/resubscribe": methods.subscribe,
    "tasks/pushNotificationConfig/set": methods.pushSet,
    "tasks/pushNotificationConfig/get": methods.pushGet,
    "tasks/pushNotificationConfig/list": methods.pushList,
    "tasks/pushNotificationConfig/delete": methods.pushDelete,
    "tasks/list": methods.list,
    "agent/getAuthenticatedExtendedCard": methods.extendedCard,
  },
  documents: { card: ref("V03AgentCard") },
  refusal: ref("V03Error"),
};
