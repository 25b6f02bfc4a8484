import { Fault } from "../../model/index.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { decodeMethod as decodeV1Method, METHODS as V1_METHODS } from "../a2a-v1/routes.ts";
import { readParams } from "../shared/fields.ts";
import { readLastEventId, readResumePoint } from "../shared/headers.ts";
import { type DecodeCall, decodeMethod, type MethodTable, type VendorProfile } from "../shared/routes.ts";
import { decodeV03Filter } from "../shared/v03-decode.ts";
import { createV03PushMethods } from "../shared/v03-routes.ts";
import { checkAccept, decodeSend, decodeTask, decodeView, requireTask } from "./decode.ts";

// ---- paths ---------------------------------------------------------------------------------------------------

export const CARD_PATH = "/.well-known/agent-card.json";
export const ASSISTANT_ID = "assistant_id";

const DOCUMENTED_ROUTES: readonly Route[] = [
  { transport: "jsonrpc", verb: "POST", path: "/a2a/{agent}", method: "" },
  { transport: "document", verb: "GET", path: CARD_PATH, method: "card" },
];
export const ROUTES: Readonly<Record<VendorProfile, readonly Route[]>> = {
  strict: DOCUMENTED_ROUTES,
  on: [
    ...DOCUMENTED_ROUTES,
    { transport: "document", verb: "GET", path: `/a2a/{agent}${CARD_PATH}`, method: "card" },
  ],
};

/** The path of the card is shared with the official protocols: with `assistant_id` the call is LangGraph's. */
export const isClaimed = (call: WireCall): boolean =>
  call.endpoint === CARD_PATH ? call.query.has(ASSISTANT_ID) : call.endpoint.startsWith("/a2a/");

// ---- methods -------------------------------------------------------------------------------------------------

const createMessageMethods = (profile: VendorProfile): MethodTable => ({
  "message/send"(call) {
    const { send, view, blocking } = decodeSend(call, profile);
    return { op: "send", send, view, until: blocking ? "settled" : "accepted" };
  },
  "message/stream"(call) {
    const { send, view } = decodeSend(call, profile);
    return { op: "stream", send, view, until: "asked", ...readResumePoint(call) };
  },
});

const decodeGet: DecodeCall = call => ({ op: "get", ...requireTask(call), view: decodeView(call) });

/** D6: the document has this method and says that it always fails. */
const refuseCancel: DecodeCall = call => {
  const { taskId } = requireTask(call);
  throw new Fault("unsupported-operation", "Task cancellation is not supported", { taskId });
};

const DOCUMENTED_METHODS: MethodTable = {
  ...createMessageMethods("strict"),
  "tasks/get": decodeGet,
  "tasks/cancel": refuseCancel,
};

/** D11: with the methods that the document lacks. */
export const METHODS: MethodTable = {
  ...createMessageMethods("on"),
  "tasks/get": call => ({ op: "get", ...decodeTask(call), view: decodeView(call) }),
  "tasks/cancel": call => ({ op: "cancel", ...decodeTask(call), again: "fault" }),
  "tasks/list": call => ({ op: "list", filter: decodeV03Filter(readParams(call)), view: decodeView(call) }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    ...decodeTask(call),
    from: readLastEventId(call),
    taskFirst: true,
    until: "terminal",
    ended: "snapshot",
  }),
  ...createV03PushMethods("langgraph"),
};

const STREAM_METHODS: ReadonlySet<string> = new Set(["message/stream", "tasks/resubscribe"]);

/** Clients such as Mastra's call the methods of v1 here; the replies have its shapes. */
export const isV1Call = ({ method }: Pick<WireCall, "method">): boolean => Object.hasOwn(V1_METHODS, method);

export function decodeCall(call: WireCall, profile: VendorProfile): Operation {
  if (profile === "on" && isV1Call(call)) return decodeV1Method(call);
  if (call.isNotification) throw new Fault("invalid-request", "id is required", { field: "id" });
  checkAccept(call, STREAM_METHODS.has(call.method));
  return decodeMethod(call, profile === "strict" ? DOCUMENTED_METHODS : METHODS, "LangGraph");
}

export function decodeCard(call: WireCall): Operation {
  const agent = (call.vars.agent ?? call.query.get(ASSISTANT_ID)) as NonNullable<Operation["agent"]>;
  if (agent === "")
    throw new Fault("invalid-params", `${ASSISTANT_ID} must be the name or the id of an agent`, {
      field: ASSISTANT_ID,
    });
  return { op: "card", agent, base: call.base(), form: "langgraph" };
}
