/** Finds tool calls without a result: those that need an approval, and those that only the caller can answer. */
import type { Json } from "../../lib/json.ts";
import { toPlain } from "../shared/to-plain.ts";
import type { MessagePart, ModelMessage } from "./agent.ts";

export interface OpenCall {
  readonly kind: "approval" | "call";
  /** The id of the question. */
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly reason?: string;
  readonly byProvider?: true;
}

const contentsOf = (messages: readonly ModelMessage[], role: string): readonly MessagePart[] =>
  messages.flatMap(message =>
    message.role === role && typeof message.content !== "string" ? message.content : [],
  );
const idsIn = (
  contents: readonly MessagePart[],
  type: string,
  id: "toolCallId" | "approvalId",
): Set<string> => new Set(contents.filter(one => one.type === type).map(one => one[id] ?? ""));

export function findOpenCalls(messages: readonly ModelMessage[]): readonly OpenCall[] {
  const assistant = contentsOf(messages, "assistant");
  const all = [...contentsOf(messages, "tool"), ...assistant];
  const answered = idsIn(all, "tool-result", "toolCallId");
  const decided = idsIn(all, "tool-approval-response", "approvalId");
  const requests = assistant.filter(one => one.type === "tool-approval-request");
  return assistant
    .filter(one => one.type === "tool-call" && !answered.has(one.toolCallId ?? ""))
    .flatMap((call): readonly OpenCall[] => {
      const request = requests.find(one => one.toolCallId === call.toolCallId);
      if (request) return decided.has(request.approvalId ?? "") ? [] : [toApproval(call, request)];
      return call.providerExecuted ? [] : [{ kind: "call", id: call.toolCallId ?? "", ...toCall(call) }];
    });
}

const toCall = ({ toolCallId = "", toolName = "", input }: MessagePart) => ({
  callId: toolCallId,
  tool: toolName,
  args: toPlain(input),
});

const toApproval = (call: MessagePart, { approvalId = "", reason }: MessagePart): OpenCall => ({
  kind: "approval",
  id: approvalId,
  ...toCall(call),
  ...(reason !== undefined && { reason }),
  ...(call.providerExecuted && { byProvider: true }),
});

/** The results of tools that the caller has approved: they run before the first step and are part of no step. */
export function findApprovedResults(
  messages: readonly ModelMessage[],
  before: readonly ModelMessage[],
): readonly ModelMessage[] {
  const decided = idsIn(contentsOf(before.slice(-1), "tool"), "tool-approval-response", "approvalId");
  const requests = contentsOf(before, "assistant").filter(
    one => one.type === "tool-approval-request" && decided.has(one.approvalId ?? ""),
  );
  const calls = new Set(requests.map(one => one.toolCallId));
  return messages.filter(message =>
    contentsOf([message], "tool").some(one => one.type === "tool-result" && calls.has(one.toolCallId ?? "")),
  );
}
