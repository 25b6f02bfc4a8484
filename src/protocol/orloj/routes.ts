import type { View } from "../../model/index.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { readLastEventId, readResumePoint } from "../shared/headers.ts";
import {
  decodeMethod as decodeByTable,
  type MethodTable,
  toEndpoints,
  type VendorProfile,
} from "../shared/routes.ts";
import { createV01PushMethods, requireTaskId } from "../shared/v01-decode.ts";
import { decodeDocumentedSend, decodeExtendedSend, decodePush, decodeTarget, readReason } from "./decode.ts";

// ---- paths ---------------------------------------------------------------------------------------------------

/** Orloj calls an agent an AgentSystem; the older paths say `agents`. */
const SYSTEMS_PATH = "/v1/agent-systems";
export const SYSTEM_PATH = `${SYSTEMS_PATH}/{agent}`;
const AGENT_PATH = "/v1/agents/{agent}";
const CARD_PATH = "/.well-known/agent-card.json";

export const ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/a2a", method: "" },
  { transport: "jsonrpc", verb: "POST", path: `${SYSTEM_PATH}/a2a`, method: "" },
  { transport: "jsonrpc", verb: "POST", path: `${AGENT_PATH}/a2a`, method: "" },
  { transport: "document", verb: "GET", path: `${SYSTEM_PATH}${CARD_PATH}`, method: "card" },
  { transport: "document", verb: "GET", path: `${AGENT_PATH}${CARD_PATH}`, method: "card" },
  { transport: "rest", verb: "GET", path: SYSTEMS_PATH, method: "systems" },
  { transport: "rest", verb: "GET", path: SYSTEM_PATH, method: "system" },
];
export const ENDPOINTS = toEndpoints(ROUTES);

/** The form of a card that is Orloj's resource. */
export const RESOURCE_FORM = "resource";

export function decodeDocument(call: WireCall): Operation {
  const agent = call.vars.agent as Operation["agent"];
  if (call.method === "systems") return { op: "agents", agent: undefined, base: call.base() };
  return { op: "card", agent, base: call.base(), form: call.method === "system" ? RESOURCE_FORM : "orloj" };
}

// ---- methods -------------------------------------------------------------------------------------------------

const WITH_ARTIFACTS: View = { artifacts: true };

const createMethods = (
  decodeSend: (call: WireCall) => ReturnType<typeof decodeExtendedSend>,
): MethodTable => ({
  // A send also returns at input-required: otherwise the caller could not answer the question.
  "tasks/send": call => ({ op: "send", send: decodeSend(call), view: WITH_ARTIFACTS, until: "settled" }),
  "tasks/get": call => ({ op: "get", taskId: requireTaskId(call), view: WITH_ARTIFACTS }),
  "tasks/cancel": call => ({
    op: "cancel",
    taskId: requireTaskId(call),
    ...readReason(call),
    again: "fault",
  }),
  "tasks/sendSubscribe": call => ({
    op: "stream",
    send: decodeSend(call),
    view: WITH_ARTIFACTS,
    until: "terminal",
    ...readResumePoint(call),
  }),
});

const DOCUMENTED_METHODS = createMethods(decodeDocumentedSend);

/** D11: with the methods that the document lacks. */
export const METHODS: MethodTable = {
  ...createMethods(decodeExtendedSend),
  ...createV01PushMethods(decodePush),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: requireTaskId(call),
    from: readLastEventId(call),
    until: "terminal",
    ended: "snapshot",
  }),
};

export function decodeMethod(call: WireCall, profile: VendorProfile): Operation {
  const operation = decodeByTable(call, profile === "strict" ? DOCUMENTED_METHODS : METHODS, "Orloj");
  if (operation.agent !== undefined) return operation;
  // At the shared path an existing task is found by its id; a new task needs an agent.
  const isNew = operation.op === "send" || operation.op === "stream";
  return { ...operation, ...decodeTarget(call, isNew ? "only" : "any") };
}
