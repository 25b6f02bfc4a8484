import type { TaskState } from "../../model/index.ts";
import { ROLES, STATES } from "../a2a-v1/names.ts";

/** The states of the definition, in the order of their numbers, from 1. */
export const PROTO_STATES: Readonly<Record<TaskState, string>> = {
  ...STATES,
  canceled: "TASK_STATE_CANCELLED",
};
export const PROTO_ROLES = ROLES;

/** The methods of JSON-RPC by their names in v1.0, which are also those of the HTTP paths. */
export const METHOD_NAMES = {
  SendMessage: "message/send",
  SendStreamingMessage: "message/stream",
  GetTask: "tasks/get",
  ListTasks: "tasks/list",
  CancelTask: "tasks/cancel",
  SubscribeToTask: "tasks/resubscribe",
  CreateTaskPushNotificationConfig: "tasks/pushNotificationConfig/set",
  GetTaskPushNotificationConfig: "tasks/pushNotificationConfig/get",
  ListTaskPushNotificationConfigs: "tasks/pushNotificationConfig/list",
  DeleteTaskPushNotificationConfig: "tasks/pushNotificationConfig/delete",
  GetExtendedAgentCard: "agent/getAuthenticatedExtendedCard",
} as const;
export type MethodName = keyof typeof METHOD_NAMES;

/** The methods whose names on gRPC are not those of v1.0. */
export const GRPC_NAMES: readonly (readonly [method: MethodName, onGrpc: string])[] = [
  ["SubscribeToTask", "TaskSubscription"],
  ["ListTaskPushNotificationConfigs", "ListTaskPushNotificationConfig"],
  ["GetExtendedAgentCard", "GetAgentCard"],
];
