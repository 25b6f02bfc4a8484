import type { Route } from "../../ports/index.ts";
import { readResumePoint } from "../shared/headers.ts";
import { createCardRoutes, JSON_RPC_ROUTES, type MethodTable, toEndpoints } from "../shared/routes.ts";
import { createV01PushMethods } from "../shared/v01-decode.ts";
import { TASK_METHODS } from "../shared/v03-routes.ts";
import { decodePush, decodeSend } from "./decode.ts";

/** Methods that no later version has: v0.1 claims them whatever version the call names. */
const OWN_METHODS = {
  "tasks/send": call => ({ op: "send", ...decodeSend(call), until: "settled" }),
  // auth-required is input-required in v0.1, and streams end there.
  "tasks/sendSubscribe": call => ({
    op: "stream",
    ...decodeSend(call),
    until: "settled",
    ...readResumePoint(call),
  }),
  ...createV01PushMethods(decodePush),
} satisfies MethodTable;

/** v0.1 §7. */
export const METHODS: MethodTable = { ...OWN_METHODS, ...TASK_METHODS };

export const isOwnMethod = (method: string): boolean => Object.hasOwn(OWN_METHODS, method);

/** R4: a method name of v0.2 or v0.3. */
export const isLaterMethod = (method: string): boolean =>
  /^(?:message|agent)\/|^tasks\/(?:list$|pushNotificationConfig\/)/.test(method);

export const ROUTES: readonly Route[] = [
  ...JSON_RPC_ROUTES,
  ...createCardRoutes("/.well-known/agent.json"),
  ...createCardRoutes("/.well-known/agent-card.json"),
];
export const ENDPOINTS = toEndpoints(ROUTES);
