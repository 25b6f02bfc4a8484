import { Fault } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports.ts";
import { isObject, readFlag, readLastEventId, readMetadata, readParams, readText } from "../read.ts";
import { readView } from "../send.ts";
import { readFilter, readSend, readTask } from "./read.ts";

type Decode = (call: WireCall) => WithoutAgent<Operation>;
type WithoutAgent<T> = T extends Operation ? Omit<T, "agent"> : never;

const push: Decode = () => ({ op: "push" });

/** v1 §5.3: every method, and what it asks for. */
export const METHODS: Readonly<Record<string, Decode>> = {
  SendMessage(call) {
    const { send, view, atOnce } = readSend(call, readParams(call));
    return { op: "send", send, view, until: atOnce ? "accepted" : "settled" };
  },
  SendStreamingMessage(call) {
    const { send, view } = readSend(call, readParams(call));
    return { op: "stream", send, view, until: "asked" };
  },
  GetTask(call) {
    const params = readParams(call);
    return { op: "get", taskId: readTask(params), view: readView(params, "") };
  },
  ListTasks(call) {
    const params = readParams(call);
    const artifacts = readFlag(params, "includeArtifacts", "") ?? false;
    return { op: "list", filter: readFilter(params), view: readView(params, "", artifacts) };
  },
  CancelTask(call) {
    const params = readParams(call);
    readMetadata(params, "");
    return { op: "cancel", taskId: readTask(params), again: "task" };
  },
  SubscribeToTask: call => ({
    op: "subscribe",
    taskId: readTask(readParams(call)),
    from: readLastEventId(call),
    until: "terminal",
    ended: "fault",
  }),
  CreateTaskPushNotificationConfig: push,
  GetTaskPushNotificationConfig: push,
  ListTaskPushNotificationConfigs: push,
  DeleteTaskPushNotificationConfig: push,
  GetExtendedAgentCard: () => ({ op: "extended-card" }),
};

export function decodeMethod(call: WireCall): Operation {
  const decode = Object.hasOwn(METHODS, call.method) ? METHODS[call.method] : undefined;
  if (!decode)
    throw new Fault(
      "method-not-found",
      `There is no method "${call.method.slice(0, 100)}"; v1.0 has ${Object.keys(METHODS).join(", ")}`,
    );
  const operation = decode(call) as Operation;
  // Only one method does without parameters: v1 §9.4.
  const tenant = isObject(call.params) ? readText(call.params, "tenant", "") : undefined;
  return { ...operation, agent: call.vars.agent as Operation["agent"], ...(tenant && { tenant }) };
}
