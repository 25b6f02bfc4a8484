/** What of a conversation is still open: calls that need a yes, and calls of tools that only the caller can answer. */
import type { Json } from "../../lib/json.ts";
import { toPlain } from "../shared/to-plain.ts";
import type { Content, Message } from "./agent.ts";

export interface Open {
  readonly kind: "approval" | "call";
  /** By which it is answered. */
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly reason?: string;
  readonly byProvider?: true;
}

const contentsOf = (messages: readonly Message[], role: string): readonly Content[] =>
  messages.flatMap(message =>
    message.role === role && typeof message.content !== "string" ? message.content : [],
  );
const idsIn = (contents: readonly Content[], type: string, id: "toolCallId" | "approvalId"): Set<string> =>
  new Set(contents.filter(one => one.type === type).map(one => one[id] ?? ""));

export function openIn(messages: readonly Message[]): readonly Open[] {
  const said = contentsOf(messages, "assistant");
  const told = [...contentsOf(messages, "tool"), ...said];
  const answered = idsIn(told, "tool-result", "toolCallId");
  const decided = idsIn(told, "tool-approval-response", "approvalId");
  const requests = said.filter(one => one.type === "tool-approval-request");
  return said
    .filter(one => one.type === "tool-call" && !answered.has(one.toolCallId ?? ""))
    .flatMap((call): readonly Open[] => {
      const request = requests.find(one => one.toolCallId === call.toolCallId);
      if (request) return decided.has(request.approvalId ?? "") ? [] : [toApproval(call, request)];
      return call.providerExecuted ? [] : [{ kind: "call", id: call.toolCallId ?? "", ...toCall(call) }];
    });
}

const toCall = ({ toolCallId = "", toolName = "", input }: Content) => ({
  callId: toolCallId,
  tool: toolName,
  args: toPlain(input),
});

const toApproval = (call: Content, { approvalId = "", reason }: Content): Open => ({
  kind: "approval",
  id: approvalId,
  ...toCall(call),
  ...(reason !== undefined && { reason }),
  ...(call.providerExecuted && { byProvider: true }),
});

/** What tools gave that ran because of an answer: it comes before the first step, and is part of none. */
export function resultsOf(messages: readonly Message[], before: readonly Message[]): readonly Message[] {
  const decided = idsIn(contentsOf(before.slice(-1), "tool"), "tool-approval-response", "approvalId");
  const requests = contentsOf(before, "assistant").filter(
    one => one.type === "tool-approval-request" && decided.has(one.approvalId ?? ""),
  );
  const calls = new Set(requests.map(one => one.toolCallId));
  return messages.filter(message =>
    contentsOf([message], "tool").some(one => one.type === "tool-result" && calls.has(one.toolCallId ?? "")),
  );
}
