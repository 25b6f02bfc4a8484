import { isObject, type JsonObject } from "../../lib/json.ts";
import { type Message, type Task, textOf } from "../../model/index.ts";
import { messageOf } from "../shared/turn-output.ts";

/** A task that waits for its caller: as interrupts, and as calls of front-end tools. */

/** The id of an interrupt: a question by its message, a credential by its name, else one of several questions. */
export function parseInterruptId(text: string): {
  readonly kind: "question" | "auth" | "asked";
  readonly id: string;
} {
  const found = /^(question|auth):(.+)$/s.exec(text);
  return found
    ? { kind: found[1] as "question" | "auth", id: found[2] as string }
    : { kind: "asked", id: text };
}

/** A call of a tool that the front end offers: a question whose data names it. */
export interface ToolRequest {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

interface Asked {
  readonly interrupts: readonly JsonObject[];
  readonly calls: readonly ToolRequest[];
}

export function toAsked(task: Task): Asked {
  const message = messageOf(task);
  const { asks, auth } = task.status;
  const text = message ? textOf(message.parts) : "";
  if (auth) {
    const request = message?.parts.find(part => part.kind === "data")?.data;
    const metadata = isObject(request) ? { metadata: request } : {};
    return {
      interrupts: [{ id: `auth:${auth.name}`, reason: "auth_required", message: text, ...metadata }],
      calls: [],
    };
  }
  if (asks && message) return readQuestions(asks, message, task);
  const id = `question:${message?.messageId ?? task.id}`;
  return { interrupts: [{ id, reason: "input_required", message: text }], calls: [] };
}

/** The message has the data `{ id, question }` for each question, and after it the other parts of the question. */
function readQuestions(asks: readonly string[], { parts }: Message, { answers }: Task): Asked {
  const questions = new Map<string, JsonObject>();
  const calls: ToolRequest[] = [];
  let current: string | undefined;
  for (const part of parts) {
    if (part.kind !== "data" || !isObject(part.data)) continue;
    const { id, question, tool, args } = part.data;
    if (typeof id === "string" && asks.includes(id) && question !== undefined) {
      current = id;
      questions.set(id, { id, reason: "input_required", ...(question !== "" && { message: question }) });
    } else if (typeof tool === "string" && current !== undefined) {
      calls.push({ id: current, name: tool, args: isObject(args) ? args : {} });
      questions.delete(current);
    } else if (current !== undefined)
      questions.set(current, { ...questions.get(current), metadata: part.data });
  }
  const isOpen = (id: string): boolean => !(answers && Object.hasOwn(answers, id));
  return {
    interrupts: [...questions].filter(([id]) => isOpen(id)).map(([, interrupt]) => interrupt),
    calls: calls.filter(({ id }) => isOpen(id)),
  };
}
