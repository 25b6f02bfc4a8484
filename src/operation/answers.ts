import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import {
  Fault,
  isSettled,
  isTerminal,
  LIMITS,
  type Part,
  type Task,
  type TaskEvent,
  textOf,
} from "../model/index.ts";
import type { AnswerTarget } from "../ports/index.ts";

/** A caller's message as it is recorded. */
export type MessageEvent = TaskEvent & { readonly type: "message" };

/**
 * A task may wait for answers to several questions. A data part with `resume: [{ id, value }, …]` answers them by id, in
 * every dialect; any other message answers the open question if there is only one. While other questions are open, the task
 * keeps waiting; a message that answers none begins the next turn.
 */
export function toAnswerEvent({ status, answers: known }: Task, event: MessageEvent): TaskEvent {
  const { asks } = status;
  if (!asks) return event;
  const open = asks.filter(id => !(known && Object.hasOwn(known, id)));
  const { parts } = event.message;
  const answers = readAnswersById(parts, asks) ?? readOnlyAnswer(parts, open);
  if (!answers) return event;
  const isPartial = open.some(id => !Object.hasOwn(answers, id));
  return isPartial ? { ...event, type: "answered", answers } : { ...event, answers };
}

function readAnswersById(parts: readonly Part[], asks: readonly string[]): JsonObject | null {
  const given: [id: string, value: Json][] = [];
  parts.forEach((part, i) => {
    const resume = part.kind === "data" && isObject(part.data) ? part.data.resume : undefined;
    if (resume !== undefined) given.push(...readResume(resume, `message.parts[${i}].data.resume`, asks));
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

function readResume(resume: Json, path: string, asks: readonly string[]): [id: string, value: Json][] {
  const invalid = (field: string, expected: string): Fault =>
    new Fault("invalid-params", `${field} ${expected}`, { field });
  if (!Array.isArray(resume) || resume.length === 0 || resume.length > LIMITS.listEntriesMax)
    throw invalid(path, `must be an array of 1 to ${LIMITS.listEntriesMax} answers`);
  return resume.map((answer: Json, i) => {
    if (!isObject(answer) || answer.value === undefined)
      throw invalid(`${path}[${i}]`, "must be an object with id and value");
    const { id, value } = answer;
    if (typeof id === "string" && asks.includes(id)) return [id, value];
    throw invalid(`${path}[${i}].id`, `must be the id of a question of this task: ${asks.join(", ")}`);
  });
}

function readOnlyAnswer(parts: readonly Part[], open: readonly string[]): JsonObject | null {
  const [id, ...others] = open;
  if (id === undefined || others.length > 0) return null;
  const data = parts.find(part => part.kind === "data")?.data;
  const value = parts.some(part => part.kind === "text") ? textOf(parts) : data;
  return value === undefined ? null : Object.fromEntries([[id, value]]);
}

/** An answer to a question that no task has asked is refused, and so is a second answer to the same question. */
export function checkAnswer(target: AnswerTarget, task: Task | undefined): void {
  const { field, question, ids = [], credentials } = target;
  const { message, asks = [], auth } = task?.status ?? {};
  if (!task || isTerminal(task.status.state) || !isSettled(task.status.state))
    throw refusal(field, "is an answer, and no task of this conversation waits for one");
  if (question !== undefined && message?.messageId !== question)
    throw refusal(field, "answers a question that the task does not ask");
  if (credentials !== undefined && auth?.name !== credentials)
    throw refusal(field, "gives credentials that the task does not ask for");
  ids.forEach(({ id, field }, i) => {
    if (!asks.includes(id))
      throw refusal(
        field,
        `answers "${id.slice(0, 100)}", which the task does not ask; it asks: ${asks.join(", ") || "nothing by id"}`,
      );
    if (ids.findIndex(one => one.id === id) < i) throw refusal(field, `answers "${id}" a second time`);
  });
}

const refusal = (field: string, problem: string): Fault =>
  new Fault("invalid-params", `${field} ${problem}`, { field });
