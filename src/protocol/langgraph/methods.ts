import { Fault } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports/index.ts";
import { createPushMethods } from "../shared/kind-methods.ts";
import { readFilter } from "../shared/kind-read.ts";
import { type Decode, decodeMethod, type Methods } from "../shared/methods.ts";
import { readLastEventId, readMissed, readParams } from "../shared/read.ts";
import { checkAccept, needTask, type Profile, readSend, readTask, readView } from "./decode.ts";

const messages = (profile: Profile): Methods => ({
  "message/send"(call) {
    const { send, view, blocking } = readSend(call, profile);
    return { op: "send", send, view, until: blocking ? "settled" : "accepted" };
  },
  "message/stream"(call) {
    const { send, view } = readSend(call, profile);
    return { op: "stream", send, view, until: "asked", ...readMissed(call) };
  },
});

const get: Decode = call => ({ op: "get", ...needTask(call), view: readView(call) });

/** D6: there is such a method, and it is always refused. */
const refuseCancel: Decode = call => {
  const { taskId } = needTask(call);
  throw new Fault("unsupported-operation", "Tasks cannot be canceled here", { taskId });
};

/** Exactly what the document has. */
const DOCUMENTED: Methods = { ...messages("strict"), "tasks/get": get, "tasks/cancel": refuseCancel };

/** With what it lacks: D11. */
export const METHODS: Methods = {
  ...messages("on"),
  "tasks/get": get,
  "tasks/cancel": call => ({ op: "cancel", ...needTask(call), again: "fault" }),
  "tasks/list": call => ({ op: "list", filter: readFilter(readParams(call)), view: readView(call) }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    ...readTask(call),
    from: readLastEventId(call),
    until: "terminal",
    ended: "snapshot",
  }),
  ...createPushMethods("langgraph"),
};

const STREAMS: ReadonlySet<string> = new Set(["message/stream", "tasks/resubscribe"]);

export function decodeCall(call: WireCall, profile: Profile): Operation {
  checkAccept(call, STREAMS.has(call.method));
  return decodeMethod(call, profile === "strict" ? DOCUMENTED : METHODS, "LangGraph's dialect");
}
