/** Every interface that has, or may have, more than one implementation, and the names of the model that they use. */

export type {
  AgentName,
  Artifact,
  ContextId,
  FaultCode,
  FaultDetails,
  Identity,
  Message,
  Part,
  PushConfig,
  Scope,
  SecurityScheme,
  Seq,
  Step,
  StepKey,
  StepRecord,
  Task,
  TaskEvent,
  TaskId,
  TaskState,
  Usage,
  View,
} from "../model/index.ts";
export { DEFAULT_PERMISSIONS, FAULTS, Fault, textOf } from "../model/index.ts";

export type * from "./auth.ts";
export type * from "./auth-method.ts";
export * from "./bus.ts";
export type * from "./caller.ts";
export type * from "./credentials.ts";
export type * from "./custom-auth.ts";
export type * from "./endpoint.ts";
export type * from "./graph.ts";
export type * from "./items.ts";
export type * from "./keys.ts";
export type * from "./local-agents.ts";
export type * from "./log.ts";
export type * from "./maintenance.ts";
export type * from "./mcp.ts";
export type * from "./operation.ts";
export type * from "./outbound.ts";
export * from "./overview.ts";
export type * from "./pipeline.ts";
export type * from "./protocol.ts";
export type * from "./push.ts";
export type * from "./resources.ts";
export * from "./run-interrupted.ts";
export type * from "./runs.ts";
export type * from "./runtime.ts";
export type * from "./schedules.ts";
export type * from "./storage.ts";
export type * from "./store.ts";
export type * from "./store-admin.ts";
export type * from "./telemetry.ts";
export type * from "./unread.ts";
export type * from "./upstream.ts";
export type * from "./usage.ts";
