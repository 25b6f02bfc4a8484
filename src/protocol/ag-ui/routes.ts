import type { ContextId } from "../../model/index.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { invalidField, readId } from "../shared/fields.ts";
import { decodeRun } from "./decode.ts";

const RUN = "/agents/{agent}/ag-ui";
const THREAD = `${RUN}/{threadId}`;

/** The URL of an `HttpAgent`. AG-UI has no paths to resume a run or to end it: these are the server's own. */
export const ROUTES: readonly Route[] = [
  { transport: "rest", verb: "POST", path: RUN, method: "run" },
  { transport: "rest", verb: "GET", path: THREAD, method: "connect" },
  { transport: "rest", verb: "DELETE", path: THREAD, method: "cancel" },
];

function readThread({ vars }: WireCall): {
  readonly agent: Operation["agent"];
  readonly contextId: ContextId;
} {
  const contextId = readId({ threadId: vars.threadId ?? vars.id ?? "" }, "threadId", "") as
    | ContextId
    | undefined;
  if (contextId === undefined) throw invalidField("threadId", "must be the id of a thread");
  return { agent: vars.agent as Operation["agent"], contextId };
}

export const METHODS: Readonly<Record<string, (call: WireCall) => Operation>> = {
  run: decodeRun,
  connect: call => ({
    op: "subscribe",
    ...readThread(call),
    taskId: undefined,
    from: "snapshot",
    until: "settled",
    ended: "snapshot",
    form: call.query.get("runId") ?? "",
  }),
  cancel: call => ({ op: "cancel", ...readThread(call), taskId: undefined, again: "task" }),
};
