import type { Json } from "../lib/json.ts";
import type { Task, View } from "./task.ts";

/** Around a value: quotes, a comma, a name. */
const AROUND = 8;

/** Roughly how many characters the JSON of a value has. Costs little: long texts are not looked at. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + AROUND;
  if (typeof value !== "object" || value === null) return AROUND;
  let size = AROUND;
  if (Array.isArray(value)) for (const one of value as readonly Json[]) size += sizeOf(one);
  else
    for (const name in value)
      size += name.length + sizeOf((value as Readonly<Record<string, unknown>>)[name]);
  return size;
}

/** The same of a task as dialects write it for a caller that wants to see this much of it. */
export function taskSize(task: Task, { artifacts, historyMax }: View): number {
  const { history, status, metadata } = task;
  let size = TASK_CHARS + sizeOf(status) + sizeOf(metadata);
  const first = historyMax === undefined ? 0 : Math.max(0, history.length - historyMax);
  for (let i = first; i < history.length; i++) size += sizeOf(history[i]);
  if (artifacts) size += sizeOf(task.artifacts);
  return size;
}

/** Ids, times and the rest of what every task has. */
const TASK_CHARS = 300;
