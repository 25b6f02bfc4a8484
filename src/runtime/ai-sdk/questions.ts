/** Asks the caller about open tool calls, and reads the answers. */
import type { AgentTask } from "../../agent/context.ts";
import { isObject, type Json, type JsonObject, toBoolean } from "../../lib/json.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { findQuestionText, toQuestionEvent } from "../shared/questions.ts";
import type { OpenCall } from "./open-calls.ts";

const ARGS_CHARS_MAX = 1_000;
/** The schema of an answer to an approval. */
const VERDICT: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

export function toQuestions(task: AgentTask, open: readonly OpenCall[]): AgentEvent {
  const questions = open.map(({ kind, id, tool, args, reason }) => ({
    id,
    question: kind === "approval" ? toApprovalText(tool, args, reason) : toCallText(tool, args),
    value: { type: kind === "approval" ? "tool-approval" : "tool-call", tool, args },
    ...(kind === "approval" && { schema: VERDICT }),
  }));
  return toQuestionEvent(task, questions);
}

const toApprovalText = (tool: string, args: Json, reason: string | undefined): string =>
  `May ${tool} be called with ${JSON.stringify(args).slice(0, ARGS_CHARS_MAX)}?${reason ? ` ${reason}` : ""} Answer yes or no.`;

const toCallText = (tool: string, args: Json): string =>
  findQuestionText(args, ["question", "message", "prompt", "text"]) ??
  `What is the result of ${tool} for ${JSON.stringify(args).slice(0, ARGS_CHARS_MAX)}?`;

/** The message with the answers; undefined: an answer is missing or unclear, and a guess could do harm. */
export function toAnswer(task: AgentTask, open: readonly OpenCall[]): JsonObject | undefined {
  const contents = open.map(one => toContent(one, findAnswer(task, one, open.length === 1)));
  const known = contents.filter(one => one !== undefined);
  return known.length < open.length ? undefined : { role: "tool", content: known };
}

/** One yes or no may answer all approvals. */
function findAnswer(
  { answers, data, text }: AgentTask,
  { id, kind }: OpenCall,
  isOnly: boolean,
): Json | undefined {
  if (Object.hasOwn(answers, id)) return answers[id];
  if (!isOnly && kind === "call") return undefined;
  return data ?? text;
}

function toContent(open: OpenCall, value: Json | undefined): JsonObject | undefined {
  if (value === undefined) return undefined;
  if (open.kind === "approval") return toApprovalResponse(open, value);
  const output = typeof value === "string" ? { type: "text", value } : { type: "json", value };
  return { type: "tool-result", toolCallId: open.callId, toolName: open.tool, output };
}

function toApprovalResponse({ id, byProvider }: OpenCall, value: Json): JsonObject | undefined {
  const approved = toBoolean(isObject(value) ? value.approved : value);
  if (approved === undefined) return undefined;
  const reason = isObject(value) ? value.reason : value;
  return {
    type: "tool-approval-response",
    approvalId: id,
    approved,
    ...(typeof reason === "string" && { reason }),
    ...(byProvider && { providerExecuted: true }),
  };
}
