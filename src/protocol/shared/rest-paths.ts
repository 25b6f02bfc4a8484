import type { Route } from "../../ports/index.ts";

export type RestPath = readonly [verb: Route["verb"], path: string, method: string];

/** v1 §11.3, v0.3 §3.5.3: methods and parameters in braces have the names of v1.0. */
export const REST_PATHS: readonly RestPath[] = [
  ["POST", "/message:send", "SendMessage"],
  ["POST", "/message:stream", "SendStreamingMessage"],
  ["GET", "/tasks", "ListTasks"],
  ["GET", "/tasks/{id}", "GetTask"],
  ["POST", "/tasks/{id}:cancel", "CancelTask"],
  // The text of the specification says POST, a2a.proto says GET.
  ["GET", "/tasks/{id}:subscribe", "SubscribeToTask"],
  ["POST", "/tasks/{id}:subscribe", "SubscribeToTask"],
  ["POST", "/tasks/{taskId}/pushNotificationConfigs", "CreateTaskPushNotificationConfig"],
  ["GET", "/tasks/{taskId}/pushNotificationConfigs", "ListTaskPushNotificationConfigs"],
  ["GET", "/tasks/{taskId}/pushNotificationConfigs/{id}", "GetTaskPushNotificationConfig"],
  ["DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}", "DeleteTaskPushNotificationConfig"],
];
