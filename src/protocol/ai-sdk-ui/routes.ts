import type { ContextId } from "../../model/index.ts";
import type { Operation, Route, WireCall } from "../../ports/index.ts";
import { invalidField, readId } from "../shared/fields.ts";
import { decodeChat } from "./decode.ts";

const CHAT = "/agents/{agent}/chat";
const STREAM = `${CHAT}/{id}/stream`;

/** The paths that `DefaultChatTransport` makes of `api`, and one to stop. */
export const ROUTES: readonly Route[] = [
  { transport: "rest", verb: "POST", path: CHAT, method: "sendMessages" },
  { transport: "rest", verb: "GET", path: STREAM, method: "reconnectToStream" },
  { transport: "rest", verb: "DELETE", path: STREAM, method: "stop" },
];

function readChat({ vars }: WireCall): { readonly agent: Operation["agent"]; readonly contextId: ContextId } {
  const contextId = readId({ id: vars.id ?? "" }, "id", "") as ContextId | undefined;
  if (contextId === undefined) throw invalidField("id", "must be the id of a chat");
  return { agent: vars.agent as Operation["agent"], contextId };
}

/** Every method, by its name in `ChatTransport`. */
export const METHODS: Readonly<Record<string, (call: WireCall) => Operation>> = {
  sendMessages: decodeChat,
  reconnectToStream: call => ({
    op: "subscribe",
    ...readChat(call),
    taskId: undefined,
    from: "snapshot",
    until: "settled",
    ended: "snapshot",
  }),
  stop: call => ({ op: "cancel", ...readChat(call), taskId: undefined, again: "task" }),
};
