/** LangChain's messages, whether they are objects of its classes or plain ones. */
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

/** One of several pieces of a message, which can be put together. */
export const isPiece = (message: AnyMessage): boolean => "concat" in message;

const KINDS: Readonly<Record<string, "ai" | "human" | "tool">> = {
  ai: "ai",
  AIMessageChunk: "ai",
  assistant: "ai",
  human: "human",
  user: "human",
  tool: "tool",
};
/** Of an object of a class `type` tells; a plain one may have either. */
export const kindOf = ({ type, role }: AnyMessage): "ai" | "human" | "tool" | undefined =>
  KINDS[type ?? role ?? ""];

/** Its words, without what else a model may put beside them. */
export function wordsOf({ content }: AnyMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) => {
      if (typeof block === "string") return block;
      return isRecord(block) && block.type === "text" && typeof block.text === "string" ? block.text : "";
    })
    .join("");
}

/** The messages in what a node gave back: one, several, or several times several. */
export function messagesIn(value: unknown): readonly AnyMessage[] {
  if (Array.isArray(value)) return value.flatMap(messagesIn);
  if (isRecord(value) && Array.isArray(value.$writes)) return value.$writes.flatMap(messagesIn);
  return isMessage(value) ? [value] : [];
}

/** Those that a node added; many give back all that there were, too. */
export function added(before: readonly AnyMessage[], after: readonly AnyMessage[]): readonly AnyMessage[] {
  const known = new Set(before);
  const ids = new Set(before.flatMap(one => one.id ?? []));
  let at = 0;
  while (at < after.length && at < before.length && isAlike(before[at], after[at])) at++;
  return after.slice(at).filter(one => !known.has(one) && (one.id === undefined || !ids.has(one.id)));
}

const isAlike = (a: AnyMessage | undefined, b: AnyMessage | undefined): boolean =>
  a === b || (!!a && !!b && kindOf(a) === kindOf(b) && wordsOf(a) === wordsOf(b));

/** What was answered after the caller's last words. */
export function answerIn(messages: readonly AnyMessage[]): string {
  const asked = messages.findLastIndex(one => kindOf(one) === "human");
  const answers = messages.slice(asked + 1).filter(one => kindOf(one) === "ai");
  return answers.map(wordsOf).findLast(words => words !== "") ?? "";
}
