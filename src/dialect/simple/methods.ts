import type { TaskId } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports.ts";
import { type Decode, decodeMethod as decodeBy, type Methods } from "../methods.ts";
import { readLastOrBeginning, readMissed } from "../read.ts";
import { ALL, needTask, readSend } from "./read.ts";

const push: Decode = () => ({ op: "push-list", taskId: "" as TaskId });
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
  "tasks/pushNotification/set": push,
  "tasks/pushNotification/get": push,
  "tasks/pushNotification/delete": push,
  "tasks/pushNotification/list": push,
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
