/** Every interface that has, or may have, more than one implementation. */

export type * from "./auth.ts";
export type * from "./auth-method.ts";
export * from "./bus.ts";
export type * from "./caller.ts";
export type * from "./credentials.ts";
export type * from "./endpoint.ts";
export type * from "./graph.ts";
export type * from "./keys.ts";
export type * from "./log.ts";
export type * from "./maintenance.ts";
export type * from "./mcp.ts";
export type * from "./operation.ts";
export type * from "./outbound.ts";
export type * from "./pipeline.ts";
export type * from "./protocol.ts";
export type * from "./push.ts";
export type * from "./resources.ts";
export type * from "./runs.ts";
export type * from "./runtime.ts";
export type * from "./storage.ts";
export type * from "./store.ts";
export type * from "./store-admin.ts";
export type * from "./telemetry.ts";
export type * from "./unread.ts";
export type * from "./upstream.ts";
export type * from "./usage.ts";
