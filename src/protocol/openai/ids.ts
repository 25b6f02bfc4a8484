import type { ContextId, Task, TaskId } from "../../model/index.ts";

/** A turn of a task is a response: `resp_TASK` the first, `resp_TASK.2` the second. A bare task id is its newest turn. */
export interface ResponseName {
  readonly taskId: TaskId;
  /** undefined: the newest. */
  readonly turn: number | undefined;
}

const PREFIX = "resp_";
const RESPONSE_ID = /^resp_(.+?)(?:\.(\d{1,6}))?$/s;

export function parseResponseId(id: string): ResponseName {
  const found = RESPONSE_ID.exec(id);
  if (!found) return { taskId: id as TaskId, turn: undefined };
  return { taskId: found[1] as TaskId, turn: Number(found[2] ?? 1) };
}

export const toResponseId = ({ id, turn }: Pick<Task, "id" | "turn">): string =>
  turn > 1 ? `${PREFIX}${id}.${turn}` : `${PREFIX}${id}`;

export const toCompletionId = ({ id, turn }: Pick<Task, "id" | "turn">): string =>
  turn > 1 ? `chatcmpl-${id}.${turn}` : `chatcmpl-${id}`;

/** The context of a call: a header, because most chat windows can add one. Open WebUI sends its own. */
export const CONTEXT_HEADERS = ["x-context-id", "x-openwebui-chat-id"] as const;

export const toContextId = (id: string): ContextId => id as ContextId;
