import { defined, isObject, type Json, type JsonObject } from "../../lib/json.ts";
import {
  Fault,
  isSettled,
  type Message,
  type Part,
  type Task,
  type TaskId,
  type TaskState,
  textOf,
} from "../../model/index.ts";
import { messageOf, toFileUrl, usageOf } from "../shared/turn-output.ts";
import { type OutputItem, outputOf, toJsonText, toTokens } from "./content.ts";
import { toResponseId } from "./ids.ts";

const STATUSES: Readonly<Record<TaskState, string>> = {
  submitted: "queued",
  working: "in_progress",
  // A question ends the turn: the next response answers it.
  "input-required": "completed",
  "auth-required": "completed",
  completed: "completed",
  // A refusal is an answer.
  rejected: "completed",
  failed: "failed",
  canceled: "cancelled",
};

const toSeconds = (ms: number): number => Math.floor(ms / 1_000);

export interface ResponseOptions {
  readonly isJson?: boolean;
  readonly isBackground?: boolean;
}

/** The newest turn of a task as a response. `output`: undefined for that of the task. */
export function encodeResponse(
  task: Task,
  options: ResponseOptions,
  output?: readonly JsonObject[],
): JsonObject {
  const { state } = task.status;
  const status = STATUSES[state];
  return {
    id: toResponseId(task),
    object: "response",
    created_at: toSeconds(task.createdAt),
    status,
    completed_at: status === "completed" ? toSeconds(task.status.at) : null,
    ...(options.isBackground && { background: true }),
    error: state === "failed" ? { code: "server_error", message: toReason(task) } : null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: task.agent,
    output: output ?? encodeOutput(task, options),
    parallel_tool_calls: false,
    previous_response_id: toPreviousId(task),
    conversation: { id: task.contextId },
    reasoning: null,
    store: true,
    temperature: null,
    text: { format: { type: options.isJson ? "json_object" : "text" } },
    tool_choice: "none",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: encodeUsage(task) ?? null,
    metadata: toMetadata(task),
  };
}

/** As the caller named it; a message of another dialect may refer to a task. */
function toPreviousId({ message }: Task): string | null {
  const hints = message?.metadata?.openai;
  if (isObject(hints) && typeof hints.previous_response_id === "string") return hints.previous_response_id;
  const [reference] = message?.referenceTaskIds ?? [];
  return reference === undefined ? null : toResponseId({ id: reference as TaskId, turn: 1 });
}

const toReason = (task: Task): string => textOf(messageOf(task)?.parts ?? []) || "The agent failed";

/** The caller's labels, and the state of a task that waits for its caller. */
function toMetadata({ metadata, status: { state } }: Task): JsonObject {
  const waits = state === "input-required" || state === "auth-required";
  return { ...metadata, ...(waits && { state }) };
}

function encodeUsage(task: Task): JsonObject | undefined {
  const tokens = toTokens(usageOf(task));
  return (
    tokens && {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: tokens.cached },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: tokens.reasoning },
      total_tokens: tokens.total,
    }
  );
}

/** `toText`: another text for that of an item. */
export function encodeOutput(
  task: Task,
  { isJson }: ResponseOptions,
  toText: (item: OutputItem) => string = item => item.text,
): readonly JsonObject[] {
  const { state } = task.status;
  if (isJson && state === "completed")
    return [encodeItem(task.id, { id: "json", kind: "text", text: toJsonText(task) }, "completed")];
  const status = isSettled(state) ? "completed" : "in_progress";
  const message = messageOf(task);
  return outputOf(task).map(item =>
    state === "rejected" && item.id === message?.messageId
      ? encodeRefusal(task.id, item)
      : encodeItem(task.id, { ...item, text: toText(item) }, status),
  );
}

export const toItemId = (taskId: TaskId, { id, kind }: Pick<OutputItem, "id" | "kind">): string =>
  `${kind === "text" ? "msg" : "rs"}_${taskId}_${id}`;

export const encodeTextPart = (text: string): JsonObject => ({
  type: "output_text",
  text,
  annotations: [],
  logprobs: [],
});

export function encodeItem(taskId: TaskId, item: OutputItem, status: string): JsonObject {
  const { kind, text } = item;
  const id = toItemId(taskId, item);
  if (kind === "reasoning")
    return { id, type: "reasoning", status, summary: text === "" ? [] : [{ type: "summary_text", text }] };
  const content = text === "" ? [] : [encodeTextPart(text)];
  return { id, type: "message", role: "assistant", status, content };
}

export const encodeRefusal = (taskId: TaskId, item: OutputItem): JsonObject => ({
  id: toItemId(taskId, item),
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "refusal", refusal: item.text }],
});

/** Of an earlier turn only the events are known: its task has gone on. */
export function requireTurn(task: Task, turn: number | undefined): void {
  if (turn === undefined || turn === task.turn) return;
  if (turn > task.turn || turn < 1)
    throw new Fault("task-not-found", "Response not found", { taskId: task.id });
  const newest = toResponseId(task);
  throw new Fault(
    "invalid-params",
    `The task of this response has gone on: retrieve ${newest}, or this one with stream=true`,
    { field: "response_id", taskId: task.id },
  );
}

/** The message that the turn answers, as a list of one item. */
export function encodeInputItems(task: Task): JsonObject {
  const items = task.message ? [encodeInput(task.message)] : [];
  const id = (items[0]?.id ?? null) as Json;
  return { object: "list", data: items, first_id: id, last_id: id, has_more: false };
}

const encodeInput = ({ messageId, parts }: Message): JsonObject => ({
  id: `msg_${messageId}`,
  type: "message",
  role: "user",
  status: "completed",
  content: parts.map(encodeInputPart),
});

function encodeInputPart(part: Part): JsonObject {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  if (part.kind === "data") return { type: "input_text", text: JSON.stringify(part.data) };
  if (part.mediaType?.startsWith("image/"))
    return { type: "input_image", image_url: toFileUrl(part), detail: "auto" };
  const content = part.kind === "url" ? { file_url: part.url } : { file_data: toFileUrl(part) };
  return defined<JsonObject>({ type: "input_file", filename: part.filename, ...content } as never);
}
