import type { AgentTask } from "../../agent/context.ts";
import type { Json } from "../../lib/json.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { findQuestionText, toInputRequired, toQuestionEvent } from "../shared/questions.ts";
import type { GraphInterrupt } from "./graph.ts";

/** One question per interrupt. */
export const toQuestions = (task: AgentTask, interrupts: readonly GraphInterrupt[]): AgentEvent =>
  toQuestionEvent(
    task,
    interrupts.map(({ id = "", value, response_schema: schema }) => ({
      id,
      question: toText(value),
      value: (value ?? null) as Json,
      ...(schema !== undefined && { schema: schema as Json }),
    })),
  );

/** The graph is at a breakpoint of its author; any message continues it. */
export const toPause = (task: AgentTask, next: readonly string[]): AgentEvent =>
  toInputRequired(task, [
    { kind: "text", text: `Paused before ${next.join(", ")}. Send a message to go on.` },
    { kind: "data", data: { next } },
  ]);

const MEMBERS = ["question", "message", "prompt", "text", "description"];

const toText = (value: unknown): string =>
  typeof value === "string" && value !== ""
    ? value
    : (findQuestionText(value, MEMBERS) ?? JSON.stringify(value ?? null));
