import { Fault, type TaskId } from "../../model/index.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { readLastEventIdOrBeginning, readResumePoint, readVersion } from "../shared/headers.ts";
import {
  decodeMethod as decodeByTable,
  type MethodTable,
  toEndpoints,
  type VendorProfile,
} from "../shared/routes.ts";
import { createV03PushMethods, decodeTaskId, TASK_METHODS } from "../shared/v03-routes.ts";
import { decodeOrchestration, decodeSend, readAgentName, readSinceSeq } from "./decode.ts";

// ---- paths ---------------------------------------------------------------------------------------------------

const AGENT_PATH = "/v1/a2a/agents/{agent}";
/** The official protocols have the card of the default agent at this path. */
export const STUB_PATH = "/.well-known/agent-card.json";

const COMMON_ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: AGENT_PATH, method: "" },
  { transport: "document", verb: "GET", path: `${AGENT_PATH}/agent-card.json`, method: "card" },
  { transport: "rest", verb: "POST", path: "/v1/requests/{id}/cancel", method: "cancel" },
  { transport: "rest", verb: "GET", path: "/v1/requests/{id}/events", method: "events" },
  { transport: "rest", verb: "POST", path: "/v1/orchestrate", method: "orchestrate" },
  { transport: "rest", verb: "POST", path: "/v1/agents/{agent}/chat", method: "chat" },
  { transport: "rest", verb: "GET", path: "/v1/agents", method: "agents" },
  { transport: "rest", verb: "GET", path: "/v1/agents/{agent}", method: "agent" },
];
export const ROUTES: Readonly<Record<VendorProfile, readonly Route[]>> = {
  on: COMMON_ROUTES,
  strict: [...COMMON_ROUTES, { transport: "document", verb: "GET", path: STUB_PATH, method: "card" }],
};
const ENDPOINTS = toEndpoints(COMMON_ROUTES);

export const isClaimed = (call: WireCall, profile: VendorProfile): boolean =>
  ENDPOINTS.has(call.endpoint) || (profile === "strict" && isStubCall(call));

/** A call for a card that names a version or an assistant belongs to another protocol. */
const isStubCall = (call: WireCall): boolean =>
  call.endpoint === STUB_PATH && readVersion(call) === undefined && !call.query.has("assistant_id");

export function decodeCard(call: WireCall): Operation {
  const form = call.endpoint === STUB_PATH ? "stub" : "arbiter";
  return { op: "card", agent: findAgent(call), base: call.base(), form };
}

/** The default agent. */
export const INDEX = "index";

const findAgent = (call: WireCall): Operation["agent"] => toAgent(call.vars.agent);
const toAgent = (name: string | undefined): Operation["agent"] =>
  name === INDEX ? undefined : (name as Operation["agent"]);

// ---- methods -------------------------------------------------------------------------------------------------

const WITH_ARTIFACTS = { artifacts: true } as const;

/** The document promises a stable message. */
export const NO_PUSH = "Push notifications are not supported";
const refusePush = (field?: string): never => {
  throw new Fault("push-not-supported", NO_PUSH, field === undefined ? {} : { field });
};

/** A caller cannot continue a task: a send and a stream end at input-required. */
export const METHODS: MethodTable = {
  "message/send": call => ({ op: "send", send: decodeSend(call), view: WITH_ARTIFACTS, until: "settled" }),
  "message/stream": call => ({
    op: "stream",
    send: decodeSend(call),
    view: WITH_ARTIFACTS,
    until: "settled",
    ...readResumePoint(call),
  }),
  ...TASK_METHODS,
  "tasks/get": call => ({ op: "get", taskId: decodeTaskId(call), view: WITH_ARTIFACTS }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: decodeTaskId(call),
    from: readLastEventIdOrBeginning(call),
    until: "terminal",
    ended: "snapshot",
  }),
};

/** In the document the methods for push exist and always fail. */
const ALL_METHODS: MethodTable = {
  ...METHODS,
  ...Object.fromEntries(Object.keys(createV03PushMethods("arbiter")).map(name => [name, () => refusePush()])),
};

export function decodeMethod(call: WireCall, profile: VendorProfile): Operation {
  const operation = decodeByTable(call, ALL_METHODS, "Arbiter");
  const { op } = operation;
  // D11: the document has no config inside of a message.
  const push = op === "send" || op === "stream" ? operation.send.push : undefined;
  if (push && profile === "strict") refusePush(push.field);
  const agent = findAgent(call);
  // The document finds a task by its tenant only: it may be of another agent.
  const isLookup = op === "get" || op === "cancel" || op === "subscribe";
  return isLookup ? { ...operation, agent, choice: "any" } : { ...operation, agent };
}

// ---- Arbiter's own interface ---------------------------------------------------------------------------------

/** The form of results in Arbiter's own words. */
export const REQUEST_FORM = "request";

export function decodeRequest(call: WireCall): Operation {
  switch (call.method) {
    case "agents":
      return { op: "agents", agent: undefined, base: call.base() };
    case "agent":
      return { op: "card", agent: findAgent(call), base: call.base(), form: REQUEST_FORM };
    case "orchestrate":
      return decodeOrchestrate(call, toAgent(readAgentName(call) ?? INDEX));
    case "chat":
      return decodeOrchestrate(call, findAgent(call));
    default:
      return decodeTaskRequest(call);
  }
}

const decodeOrchestrate = (call: WireCall, agent: Operation["agent"]): Operation => ({
  op: "stream",
  agent,
  form: REQUEST_FORM,
  send: decodeOrchestration(call),
  view: WITH_ARTIFACTS,
  until: "settled",
  ...readResumePoint(call),
});

/** A request is a task of any agent. */
function decodeTaskRequest(call: WireCall): Operation {
  const taskId = call.vars.id as TaskId;
  const common = { agent: undefined, choice: "any", form: REQUEST_FORM, taskId } as const;
  if (call.method === "cancel") return { ...common, op: "cancel", again: "fault" };
  return { ...common, op: "subscribe", from: readSinceSeq(call), until: "terminal", ended: "snapshot" };
}
