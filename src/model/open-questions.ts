import { isObject, type JsonObject } from "../lib/json.ts";
import type { Part } from "./message.ts";
import type { Task } from "./task.ts";

/**
 * The status of a task without the questions that are answered: callers see those that are open. A question is a data part
 * with an id that the status asks, and the parts after it; the text before the first one repeats their texts.
 */
export function withoutAnswered(task: Task, answers: JsonObject): Task {
  const { status } = task;
  const { asks, message, asked = message } = status;
  if (!asks || !message || !asked) return task;
  const groups = toGroups(asked.parts, asks);
  const open = groups.questions.filter(({ id }) => !Object.hasOwn(answers, id));
  const [head, ...others] = groups.head;
  if (head?.kind !== "text" || others.length > 0 || head.text !== textsOf(groups.questions)) return task;
  const parts = [{ ...head, text: textsOf(open) }, ...open.flatMap(one => one.parts)];
  return { ...task, status: { ...status, message: { ...asked, parts }, asked } };
}

interface Question {
  readonly id: string;
  readonly text: string;
  readonly parts: Part[];
}

function toGroups(parts: readonly Part[], asks: readonly string[]) {
  const head: Part[] = [];
  const questions: Question[] = [];
  for (const part of parts) {
    const { id, question } = part.kind === "data" && isObject(part.data) ? part.data : {};
    if (typeof id === "string" && typeof question === "string" && asks.includes(id))
      questions.push({ id, text: question, parts: [part] });
    else (questions.at(-1)?.parts ?? head).push(part);
  }
  return { head, questions };
}

const textsOf = (questions: readonly Question[]): string =>
  questions
    .map(({ text }) => text)
    .filter(text => text !== "")
    .join("\n");
