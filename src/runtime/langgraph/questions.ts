import type { AgentTask } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { isRecord } from "../shared/options.ts";
import type { Interrupt } from "./graph.ts";

/** Interrupts as one question each: in words for people, and with its id and value for programs. */
export function toQuestions(task: AgentTask, interrupts: readonly Interrupt[]): AgentEvent {
  const all = interrupts.map(({ id = "", value, response_schema: schema }) => ({
    id,
    question: questionOf(value),
    value: (value ?? null) as Json,
    ...(schema !== undefined && { schema: schema as Json }),
  }));
  const words = all.map(one => one.question).join("\n");
  const parts: Part[] = [{ kind: "text", text: words }, ...all.map((data): Part => ({ kind: "data", data }))];
  return ask(task, parts, { asks: all.map(one => one.id) });
}

/** The graph waits at a place where its author wants it to; any message lets it go on. */
export function toPause(task: AgentTask, next: readonly string[]): AgentEvent {
  const text = `Paused before ${next.join(", ")}. Send a message to go on.`;
  return ask(
    task,
    [
      { kind: "text", text },
      { kind: "data", data: { next } },
    ],
    {},
  );
}

function ask(
  { id: taskId, contextId, turn }: AgentTask,
  parts: readonly Part[],
  more: { readonly asks?: readonly string[] },
): AgentEvent {
  const message = { messageId: `${taskId}-ask-${turn}`, role: "agent" as const, parts, taskId, contextId };
  return { type: "status", state: "input-required", message, ...more };
}

const WORDS = ["question", "message", "prompt", "text", "description"];

function questionOf(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  const said = isRecord(value) ? WORDS.map(name => value[name]).find(isText) : undefined;
  return said ?? JSON.stringify(value ?? null);
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
