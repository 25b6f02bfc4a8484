import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, LIMITS, type Part, type Task, type TaskEvent, textOf } from "../model/index.ts";

/** A caller's message as it is recorded. */
export type Said = TaskEvent & { readonly type: "message" };

/**
 * A task may wait for the answers to several questions. A data part with `resume: [{ id, value }, …]` answers them by
 * their ids, in whatever dialect it came; any other message answers the one that is open, if there is only one.
 * As long as others are open, the task goes on waiting; a message that answers none simply begins the next turn.
 */
export function withAnswers({ status, answers: known }: Task, said: Said): TaskEvent {
  const { asks } = status;
  if (!asks) return said;
  const open = asks.filter(id => !(known && Object.hasOwn(known, id)));
  const { parts } = said.message;
  const answers = resumed(parts, asks) ?? only(parts, open);
  if (!answers) return said;
  const isPartial = open.some(id => !Object.hasOwn(answers, id));
  return isPartial ? { ...said, type: "answered", answers } : { ...said, answers };
}

function resumed(parts: readonly Part[], asks: readonly string[]): JsonObject | null {
  const given: [id: string, value: Json][] = [];
  parts.forEach((part, i) => {
    const resume = part.kind === "data" && isObject(part.data) ? part.data.resume : undefined;
    if (resume !== undefined) given.push(...readResume(resume, `message.parts[${i}].data.resume`, asks));
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

function readResume(resume: Json, path: string, asks: readonly string[]): [id: string, value: Json][] {
  if (!Array.isArray(resume) || resume.length === 0 || resume.length > LIMITS.listEntriesMax)
    throw bad(path, `must be an array of 1 to ${LIMITS.listEntriesMax} answers`);
  return resume.map((answer: Json, i) => {
    if (!isObject(answer) || answer.value === undefined)
      throw bad(`${path}[${i}]`, "must be an object with id and value");
    const { id, value } = answer;
    if (typeof id === "string" && asks.includes(id)) return [id, value];
    throw bad(`${path}[${i}].id`, `must be the id of a question of this task: ${asks.join(", ")}`);
  });
}

function only(parts: readonly Part[], open: readonly string[]): JsonObject | null {
  const [id, ...others] = open;
  if (id === undefined || others.length > 0) return null;
  const data = parts.find(part => part.kind === "data")?.data;
  const value = parts.some(part => part.kind === "text") ? textOf(parts) : data;
  return value === undefined ? null : Object.fromEntries([[id, value]]);
}

const bad = (field: string, expected: string): Fault =>
  new Fault("invalid-params", `${field} ${expected}`, { field });
