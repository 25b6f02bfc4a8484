import { Fault, type TaskId } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports.ts";
import { readFilter, readKindSend } from "../kind-read.ts";
import { needId, readLastEventId, readMetadata, readParams } from "../read.ts";
import { readView } from "../send.ts";

type Decode = (call: WireCall) => WithoutAgent<Operation>;
type WithoutAgent<T> = T extends Operation ? Omit<T, "agent"> : never;

function taskOf(call: WireCall): TaskId {
  const params = readParams(call);
  readMetadata(params, "");
  return needId(params, "id", "") as TaskId;
}
const push: Decode = () => ({ op: "push" });

/** v0.3 §7: every method, and what it asks for. `tasks/list` is of a later draft; some clients call it. */
export const METHODS: Readonly<Record<string, Decode>> = {
  "message/send"(call) {
    const { send, view, blocking } = readKindSend(call, readParams(call), "v03");
    return { op: "send", send, view, until: blocking ? "settled" : "accepted" };
  },
  "message/stream"(call) {
    const { send, view } = readKindSend(call, readParams(call), "v03");
    return { op: "stream", send, view, until: "asked" };
  },
  "tasks/get": call => ({ op: "get", taskId: taskOf(call), view: readView(readParams(call), "") }),
  "tasks/list": call => ({
    op: "list",
    filter: readFilter(readParams(call)),
    view: readView(readParams(call), ""),
  }),
  "tasks/cancel": call => ({ op: "cancel", taskId: taskOf(call), again: "fault" }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: taskOf(call),
    from: readLastEventId(call),
    until: "terminal",
    ended: "snapshot",
  }),
  "tasks/pushNotificationConfig/set": push,
  "tasks/pushNotificationConfig/get": push,
  "tasks/pushNotificationConfig/list": push,
  "tasks/pushNotificationConfig/delete": push,
  "agent/getAuthenticatedExtendedCard": () => ({ op: "extended-card" }),
};

export function decodeMethod(call: WireCall): Operation {
  const decode = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
  if (!decode)
    throw new Fault(
      "method-not-found",
      `There is no method "${call.method.slice(0, 100)}"; v0.3 has ${Object.keys(METHODS).join(", ")}`,
    );
  return { ...(decode(call) as Operation), agent: call.vars.agent as Operation["agent"] };
}
