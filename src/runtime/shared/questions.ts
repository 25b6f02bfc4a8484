/** Questions of a graph or of tool calls: as text for people, and with ids as data for programs. */
import type { AgentTask } from "../../agent/context.ts";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { isRecord } from "./options.ts";

export interface Question {
  readonly id: string;
  readonly question: string;
  readonly value: Json;
  /** JSON Schema of the answer. */
  readonly schema?: Json;
}

export function toQuestionEvent(task: AgentTask, questions: readonly Question[]): AgentEvent {
  const text = questions.map(({ question }) => question).join("\n");
  const data = questions.map((question): Part => ({ kind: "data", data: { ...question } }));
  const event = toInputRequired(task, [{ kind: "text", text }, ...data]);
  return { ...event, asks: questions.map(({ id }) => id) };
}

/** The message id follows from the turn, so that a repeated attempt sends the same message. */
export function toInputRequired(
  { id: taskId, contextId, turn }: AgentTask,
  parts: readonly Part[],
): AgentEvent & { readonly type: "status" } {
  const message = { messageId: `${taskId}-ask-${turn}`, role: "agent" as const, parts, taskId, contextId };
  return { type: "status", state: "input-required", message };
}

/** The first non-empty string among these members. */
export function findQuestionText(value: unknown, members: readonly string[]): string | undefined {
  if (!isRecord(value)) return undefined;
  return members
    .map(name => value[name])
    .find((text): text is string => typeof text === "string" && text !== "");
}
