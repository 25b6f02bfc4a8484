import type { Operation, WireCall } from "../../ports/index.ts";
import { decodeMethod as decodeBy, type Methods } from "../shared/methods.ts";
import { ONLY } from "../shared/push-config.ts";
import { needObject, readLastOrBeginning, readMissed, readParams } from "../shared/read.ts";
import { ALL, needTask, readSend, readTask } from "./decode.ts";
import { readPush } from "./push.ts";

const CONFIG = "pushNotificationConfig";
const VIEW = { artifacts: true } as const;

/** The methods of its document. */
const DOCUMENTED: Methods = {
  "tasks/send": call => ({ op: "send", send: readSend(call), view: VIEW, until: "settled" }),
  "tasks/sendSubscribe": call => ({
    op: "stream",
    send: readSend(call),
    view: VIEW,
    until: "settled",
    ...readMissed(call),
  }),
  "tasks/get": call => ({ op: "get", taskId: needTask(call), view: VIEW }),
  "tasks/list": () => ({ op: "list", filter: ALL, view: VIEW }),
  "tasks/cancel": call => ({ op: "cancel", taskId: needTask(call), again: "fault" }),
  "tasks/pushNotification/set": call => ({
    op: "push-set",
    taskId: needTask(call),
    config: readPush(call, needObject(readParams(call), CONFIG, ""), CONFIG),
    field: CONFIG,
  }),
  "tasks/pushNotification/get": call => ({ op: "push-get", taskId: needTask(call), none: "nothing" }),
  "tasks/pushNotification/delete": call => ({ op: "push-delete", taskId: needTask(call), id: ONLY }),
  "tasks/pushNotification/list": call => ({ op: "push-list", ...readTask(call) }),
};

export const METHODS: Methods = {
  ...DOCUMENTED,
  // The document lacks it; there is no word for the task as it stands, so a reader who was away hears everything.
  "tasks/resubscribe": call => ({
    op: "subscribe",
    taskId: needTask(call),
    from: readLastOrBeginning(call),
    until: "terminal",
    ended: "fault",
  }),
};

export const decodeMethod = (call: WireCall, profile: "on" | "strict"): Operation =>
  decodeBy(call, profile === "strict" ? DOCUMENTED : METHODS, "simple_a2a");
