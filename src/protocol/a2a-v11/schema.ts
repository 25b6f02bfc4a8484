import { ROLES } from "../a2a-v1/names.ts";
import { CONSTRAINTS, SUMMARIES, V1_SCHEMA } from "../a2a-v1/schema.ts";
import type { ApiDescription } from "../openapi/description.ts";
import type { ProtobufSchema } from "../protobuf/schema.ts";

const V1 = V1_SCHEMA.messages;
const GENERATION = "The number of updates of the task so far, from 1";

/** The definition of v1.0 with the fields that the draft of 1.1 adds; the package has the same name. */
export const V11_SCHEMA = {
  ...V1_SCHEMA,
  messages: {
    ...V1,
    SendMessageConfiguration: {
      ...V1.SendMessageConfiguration,
      ifGenerationMatch: "int64? 5: Refuse the message unless the task has this generation",
    },
    Task: { ...V1.Task, generation: `int64 7: ${GENERATION}` },
    TaskStatusUpdateEvent: { ...V1.TaskStatusUpdateEvent, generation: `int64 5: ${GENERATION}` },
    TaskArtifactUpdateEvent: { ...V1.TaskArtifactUpdateEvent, generation: `int64 7: ${GENERATION}` },
    GetTaskRequest: {
      ...V1.GetTaskRequest,
      currentGeneration: "int64? 4: Wait, for a limited time, until the task has a newer generation",
    },
  },
} as const satisfies ProtobufSchema;

const FORM = {
  prefix: "V11",
  schema: V11_SCHEMA,
  summaries: SUMMARIES,
  constraints: CONSTRAINTS,
  requires: { CreateTaskPushNotificationConfig: ["taskId"] },
  example: { message: { messageId: "m1", role: ROLES.user, parts: [{ text: "Hello" }] } },
};

export const V11_API: ApiDescription = {
  title: "A2A 1.1 (draft)",
  version: "1.1",
  rest: [FORM],
  jsonRpc: FORM,
  documents: { card: "AgentCard", agents: "AgentList" },
  error: "Error",
};
