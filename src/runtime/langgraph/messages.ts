/** LangChain messages: instances of its classes, or plain objects. */
import { isRecord } from "../shared/options.ts";

export interface AnyMessage {
  readonly id?: string;
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly name?: string;
  readonly status?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name?: string; readonly args?: unknown }[];
}

export const isMessage = (value: unknown): value is AnyMessage =>
  isRecord(value) && "content" in value && (typeof value.role === "string" || typeof value.type === "string");

/** A chunk of a streamed message; plain objects come from Python. */
export const isMessageChunk = (message: AnyMessage): boolean =>
  "concat" in message || message.type === "AIMessageChunk";

const KINDS: Readonly<Record<string, "ai" | "human" | "tool">> = {
  ai: "ai",
  AIMessageChunk: "ai",
  assistant: "ai",
  human: "human",
  user: "human",
  tool: "tool",
};
/** Instances have `type`; plain objects have `type` or `role`. */
export const kindOf = ({ type, role }: AnyMessage): "ai" | "human" | "tool" | undefined =>
  KINDS[type ?? role ?? ""];

/** The text of its text blocks. */
export function messageText({ content }: AnyMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => {
      if (typeof block === "string") return block;
      return isRecord(block) && block.type === "text" && typeof block.text === "string" ? block.text : "";
    })
    .join("");
}

/** The messages in the result of a node: one, a list, or nested lists. */
export function findMessages(value: unknown): readonly AnyMessage[] {
  if (Array.isArray(value)) return value.flatMap(findMessages);
  if (isRecord(value) && Array.isArray(value.$writes)) return value.$writes.flatMap(findMessages);
  return isMessage(value) ? [value] : [];
}

/** The messages that a node has added; many nodes return the earlier ones, too. */
export function findAdded(
  before: readonly AnyMessage[],
  after: readonly AnyMessage[],
): readonly AnyMessage[] {
  const known = new Set(before);
  const ids = new Set(before.flatMap(one => one.id ?? []));
  let at = 0;
  while (at < after.length && at < before.length && isSame(before[at], after[at])) at++;
  return after.slice(at).filter(one => !known.has(one) && (one.id === undefined || !ids.has(one.id)));
}

const isSame = (a: AnyMessage | undefined, b: AnyMessage | undefined): boolean =>
  a === b || (!!a && !!b && kindOf(a) === kindOf(b) && messageText(a) === messageText(b));

/** The last text of the model after the last message of the caller. */
export function findResponse(messages: readonly AnyMessage[]): string {
  const asked = messages.findLastIndex(one => kindOf(one) === "human");
  const answers = messages.slice(asked + 1).filter(one => kindOf(one) === "ai");
  return answers.map(messageText).findLast(text => text !== "") ?? "";
}
