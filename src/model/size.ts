import type { Json } from "../lib/json.ts";
import type { Task, View } from "./task.ts";

/** Quotes, comma and name of a value. */
const OVERHEAD_CHARS = 8;
/** Ids, times and other members of every task. */
const TASK_CHARS = 300;

/** Roughly the number of characters of the JSON of a value. Cheap: texts are not scanned. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + OVERHEAD_CHARS;
  if (typeof value !== "object" || value === null) return OVERHEAD_CHARS;
  let size = OVERHEAD_CHARS;
  if (Array.isArray(value)) for (const item of value as readonly Json[]) size += sizeOf(item);
  else
    for (const name in value)
      size += name.length + sizeOf((value as Readonly<Record<string, unknown>>)[name]);
  return size;
}

/** The same for the part of a task that a caller wants to see. */
export function taskSize(task: Task, { artifacts, historyMax }: View): number {
  const { history, status, metadata } = task;
  let size = TASK_CHARS + sizeOf(status) + sizeOf(metadata);
  const first = historyMax === undefined ? 0 : Math.max(0, history.length - historyMax);
  for (let i = first; i < history.length; i++) size += sizeOf(history[i]);
  if (artifacts) size += sizeOf(task.artifacts);
  return size;
}
