/** What the caller is asked, and what an answer means. */
import type { AgentTask } from "../../agent/definition.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { type Part, verdictIn } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import type { Open } from "./open-calls.ts";

const ARGS_CHARS_MAX = 1_000;
/** An answer to an approval, for programs. */
const VERDICT: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

/** One question each: in words for people, and with its id for programs. */
export function toQuestions({ id: taskId, contextId, turn }: AgentTask, open: readonly Open[]): AgentEvent {
  const all = open.map(({ kind, id, tool, args, reason }) => ({
    id,
    question: kind === "approval" ? toRequest(tool, args, reason) : toQuestion(tool, args),
    value: { type: kind === "approval" ? "tool-approval" : "tool-call", tool, args },
    ...(kind === "approval" && { schema: VERDICT }),
  }));
  const words: Part = { kind: "text", text: all.map(one => one.question).join("\n") };
  const parts = [words, ...all.map((data): Part => ({ kind: "data", data }))];
  const message = { messageId: `${taskId}-ask-${turn}`, role: "agent" as const, parts, taskId, contextId };
  return { type: "status", state: "input-required", message, asks: all.map(one => one.id) };
}

const toRequest = (tool: string, args: Json, reason: string | undefined): string =>
  `May ${tool} be called with ${JSON.stringify(args).slice(0, ARGS_CHARS_MAX)}?${reason ? ` ${reason}` : ""} Answer yes or no.`;

const WORDS = ["question", "message", "prompt", "text"];

function toQuestion(tool: string, args: Json): string {
  const said = isObject(args)
    ? WORDS.map(name => args[name]).find(one => typeof one === "string")
    : undefined;
  return typeof said === "string" && said !== ""
    ? said
    : `What does ${tool} give for ${JSON.stringify(args).slice(0, ARGS_CHARS_MAX)}?`;
}

/** The message that the answer makes for the agent; undefined: it is not clear what is meant, and to guess could do harm. */
export function toAnswer(task: AgentTask, open: readonly Open[]): JsonObject | undefined {
  const contents = open.map(one => toContent(one, answerTo(task, one, open.length === 1)));
  const known = contents.filter(one => one !== undefined);
  return known.length < open.length ? undefined : { role: "tool", content: known };
}

/** One yes, or one no, may be for all. */
function answerTo({ answers, data, text }: AgentTask, { id, kind }: Open, isOnly: boolean): Json | undefined {
  if (Object.hasOwn(answers, id)) return answers[id];
  if (!isOnly && kind === "call") return undefined;
  return data ?? text;
}

function toContent(open: Open, value: Json | undefined): JsonObject | undefined {
  if (value === undefined) return undefined;
  if (open.kind === "approval") return toResponse(open, value);
  const output = typeof value === "string" ? { type: "text", value } : { type: "json", value };
  return { type: "tool-result", toolCallId: open.callId, toolName: open.tool, output };
}

function toResponse({ id, byProvider }: Open, value: Json): JsonObject | undefined {
  const given = isObject(value) ? value.approved : value;
  const verdict = verdictIn(typeof given === "string" || typeof given === "boolean" ? `${given}` : "");
  if (verdict === "unclear") return undefined;
  const reason = isObject(value) ? value.reason : value;
  return {
    type: "tool-approval-response",
    approvalId: id,
    approved: verdict === "yes",
    ...(typeof reason === "string" && { reason }),
    ...(byProvider && { providerExecuted: true }),
  };
}
