import { CARD_SCHEMAS } from "./card.ts";
import { byPathNames, configurationWith, createMethods, pageOf } from "./methods.ts";
import { V1_PUSH, V1_PUSH_SCHEMAS } from "./push.ts";
import {
  base64,
  count,
  either,
  flag,
  list,
  type Members,
  object,
  oneMember,
  record,
  ref,
  text,
  time,
  told,
  url,
} from "./schema.ts";
import { createShapes } from "./shapes.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A2A 1.0: the same shapes on every transport. */

const SHAPES = createShapes({
  prefix: "V1",
  states: [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
  ],
  roles: ["ROLE_USER", "ROLE_AGENT"],
  part: oneMember(
    { text, raw: base64, url, data: told("Whatever JSON can say", {}) },
    { filename: text, mediaType: text, metadata: record },
  ),
  parts: "parts",
  kinds: false,
  final: false,
  references: true,
});

const ANSWERS: Members = {
  V1SendMessageConfiguration: configurationWith({
    returnImmediately: told("Do not wait until the task has settled", flag),
    taskPushNotificationConfig: ref("V1TaskPushNotificationConfig"),
  }),
  V1SendMessageResponse: oneMember({ task: ref("V1Task"), message: ref("V1Message") }),
  V1StreamResponse: oneMember({
    task: ref("V1Task"),
    message: ref("V1Message"),
    statusUpdate: ref("V1TaskStatusUpdateEvent"),
    artifactUpdate: ref("V1TaskArtifactUpdateEvent"),
  }),
  V1ListTasksResponse: pageOf(ref("V1Task")),
  AgentList: object({
    agents: list(object({ name: text, description: text, url, card: url, default: flag })),
  }),
  V1Error: object({
    error: object(
      {
        code: told("The HTTP status", count),
        status: told("A name of google.rpc.Code", text),
        message: text,
      },
      { details: list({ ...record, required: ["@type"] }) },
    ),
  }),
};

const METHODS = byPathNames(
  createMethods({
    message: ref("V1Message"),
    configuration: ref("V1SendMessageConfiguration"),
    sent: ref("V1SendMessageResponse"),
    step: ref("V1StreamResponse"),
    task: ref("V1Task"),
    page: ref("V1ListTasksResponse"),
    state: ref("V1TaskState"),
    filters: { statusTimestampAfter: time, includeArtifacts: { ...flag, default: false } },
    push: V1_PUSH,
    card: ref("V1AgentCard"),
    example: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Hello" }] },
  }),
);

export const V1: Vocabulary = {
  title: "A2A 1.0",
  version: "1.0",
  schemas: { ...SHAPES, ...ANSWERS, ...V1_PUSH_SCHEMAS, ...CARD_SCHEMAS },
  rest: METHODS,
  rpc: METHODS,
  documents: { card: either([ref("V1AgentCard"), ref("HybridAgentCard")]), agents: ref("AgentList") },
  refusal: ref("V1Error"),
};
