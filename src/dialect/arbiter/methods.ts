import type { TaskId } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports.ts";
import { createKindMethods, taskOf } from "../kind-methods.ts";
import { readFilter } from "../kind-read.ts";
import { decodeMethod as decodeBy, type Methods } from "../methods.ts";
import { readLastOrBeginning, readMissed, readParams } from "../read.ts";
import { readSend, readSince } from "./read.ts";

const WHOLE = { artifacts: true } as const;

/** The methods of its document. A caller cannot go on with a task, so a question ends a send and a stream as an answer does. */
const DOCUMENTED: Methods = {
  ...createKindMethods("arbiter"),
  "message/send": call => ({ op: "send", send: readSend(call), view: WHOLE, until: "settled" }),
  "message/stream": call => ({
    op: "stream",
    send: readSend(call),
    view: WHOLE,
    until: "settled",
    ...readMissed(call),
  }),
  "tasks/get": call => ({ op: "get", taskId: taskOf(call), view: WHOLE }),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: taskOf(call),
    from: readLastOrBeginning(call),
    until: "terminal",
    ended: "snapshot",
  }),
};

export const METHODS: Methods = {
  ...DOCUMENTED,
  // The document lacks it.
  "tasks/list": call => ({ op: "list", filter: readFilter(readParams(call)), view: WHOLE }),
};

export function decodeMethod(call: WireCall, profile: "on" | "strict"): Operation {
  const operation = decodeBy(call, profile === "strict" ? DOCUMENTED : METHODS, "Arbiter");
  return { ...operation, agent: agentOf(call) };
}

/** `index` is the agent that is there without being named. */
export const agentOf = (call: WireCall): Operation["agent"] =>
  call.vars.agent === "index" ? undefined : (call.vars.agent as Operation["agent"]);

/** What its own interface, beside A2A, is answered with. */
export const REQUEST = "request";

/** A request is a task, whatever agent has it. */
export function decodeRequest(call: WireCall): Operation {
  const taskId = call.vars.id as TaskId;
  const asked = { agent: undefined, choice: "any", form: REQUEST, taskId } as const;
  if (call.method === "cancel") return { ...asked, op: "cancel", again: "fault" };
  return { ...asked, op: "subscribe", from: readSince(call), until: "terminal", ended: "snapshot" };
}
