import { Fault, type TaskId } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports/index.ts";
import { createKindMethods, createPushMethods, taskOf } from "../shared/kind-methods.ts";
import { readFilter } from "../shared/kind-read.ts";
import { decodeMethod as decodeBy, type Methods } from "../shared/methods.ts";
import { readLastOrBeginning, readMissed, readParams } from "../shared/read.ts";
import { readSend, readSince } from "./decode.ts";

const WHOLE = { artifacts: true } as const;

/** A caller cannot go on with a task, so a question ends a send and a stream as an answer does. */
const createMethods = (read: typeof readSend): Methods => ({
  ...createKindMethods("arbiter"),
  "message/send": call => ({ op: "send", send: read(call), view: WHOLE, until: "settled" }),
  "message/stream": call => ({
    op: "stream",
    send: read(call),
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
});

/** Its stable sentence. */
export const NO_PUSH = "Push notifications are not supported";
const refusePush = (field?: string): never => {
  throw new Fault("push-not-supported", NO_PUSH, field === undefined ? {} : { field });
};

/** The methods of its document: those for push are there to be refused. */
const DOCUMENTED: Methods = {
  ...createMethods(call => {
    const send = readSend(call);
    return send.push ? refusePush(send.push.field) : send;
  }),
  ...Object.fromEntries(Object.keys(createPushMethods("arbiter")).map(name => [name, () => refusePush()])),
};

export const METHODS: Methods = {
  ...createMethods(readSend),
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
