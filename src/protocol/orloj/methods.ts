import type { View } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports/index.ts";
import { decodeMethod as decodeNamed, type Methods } from "../shared/methods.ts";
import { readLastEventId, readMissed } from "../shared/read.ts";
import { createPushMethods } from "../shared/type-push.ts";
import { readAnySend, readDocumentedSend, readPush, readReason, readTarget, readTask } from "./decode.ts";

/** "strict": exactly what the document says; "on": with what it lacks. */
export type Profile = "on" | "strict";

const WHOLE: View = { artifacts: true };

const createMethods = (readSend: typeof readAnySend): Methods => ({
  // A task that asks is answered as well: whoever waits for its end here could not answer it.
  "tasks/send": call => ({ op: "send", send: readSend(call), view: WHOLE, until: "settled" }),
  "tasks/get": call => ({ op: "get", taskId: readTask(call), view: WHOLE }),
  "tasks/cancel": call => ({ op: "cancel", taskId: readTask(call), ...readReason(call), again: "fault" }),
  "tasks/sendSubscribe": call => ({
    op: "stream",
    send: readSend(call),
    view: WHOLE,
    until: "terminal",
    ...readMissed(call),
  }),
});

const DOCUMENTED = createMethods(readDocumentedSend);
export const METHODS: Methods = {
  ...createMethods(readAnySend),
  ...createPushMethods(readPush),
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: readTask(call),
    from: readLastEventId(call),
    until: "terminal",
    ended: "snapshot",
  }),
};

export function decodeMethod(call: WireCall, profile: Profile): Operation {
  const operation = decodeNamed(call, profile === "strict" ? DOCUMENTED : METHODS, "Orloj");
  if (operation.agent !== undefined) return operation;
  // A task is found by its id alone; a new one needs an agent.
  const isNew = operation.op === "send" || operation.op === "stream";
  return { ...operation, ...readTarget(call, isNew ? "only" : "any") };
}
