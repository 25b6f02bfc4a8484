/** Chunks of messages as the content blocks of the streaming protocol. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { accumulate, isAiChunk } from "./message-chunks.ts";
import type { ProtocolEvent } from "./protocol-event.ts";

interface OpenMessage {
  readonly namespace: readonly string[];
  readonly node: string;
  readonly isOfGraph: boolean;
  whole: JsonObject;
  text: string;
  hasText: boolean;
}

/** One message at a time for each node that is executed: the next one, or the end of the node, ends it. */
export class MessageBlocks {
  readonly #open = new Map<string, OpenMessage>();

  /** `namespace`: of the node that speaks; in Python and for agents that are no graphs, of its graph. */
  *add(namespace: readonly string[], data: Json): Generator<ProtocolEvent> {
    const [message, metadata] = Array.isArray(data) ? (data as readonly Json[]) : [];
    if (!isObject(message) || typeof message.id !== "string") return;
    const isChunk = isAiChunk(message);
    if (!isChunk && message.type !== "ai") return;
    const key = namespace.join("|");
    const known = this.#open.get(key);
    if (known && known.whole.id !== message.id) yield* this.finish(namespace);
    const node = isObject(metadata) ? String(metadata.langgraph_node ?? "") : "";
    const isOfGraph = !(namespace.at(-1) ?? "").startsWith(`${node}:`);
    const open = this.#open.get(key) ?? {
      ...{ namespace, node, isOfGraph, whole: message },
      text: "",
      hasText: false,
    };
    if (!this.#open.has(key)) {
      this.#open.set(key, open);
      yield event(open, { event: "message-start", role: "ai", id: message.id });
    } else open.whole = accumulate(open.whole, message);
    yield* addText(open, textOf(message.content));
    if (!isChunk) yield* this.finish(namespace);
  }

  /** Messages whose node is not known end with whatever else their graph emits. */
  *finishGraph(namespace: readonly string[]): Generator<ProtocolEvent> {
    const isWithoutNode = this.#open.get(namespace.join("|"))?.isOfGraph;
    if (isWithoutNode) yield* this.finish(namespace);
  }

  /** Of this namespace and those inside of it; undefined: all. */
  *finish(namespace: readonly string[] = []): Generator<ProtocolEvent> {
    for (const [key, open] of this.#open) {
      if (!namespace.every((part, i) => open.namespace[i] === part)) continue;
      this.#open.delete(key);
      if (open.hasText)
        yield event(open, {
          event: "content-block-finish",
          index: 0,
          content: { type: "text", text: open.text },
        });
      yield* toolBlocks(open);
      const usage = open.whole.usage_metadata;
      yield event(open, { event: "message-finish", ...(isObject(usage) && { usage }) });
    }
  }
}

function* addText(open: OpenMessage, text: string): Generator<ProtocolEvent> {
  if (text === "") return;
  if (!open.hasText)
    yield event(open, { event: "content-block-start", index: 0, content: { type: "text", text: "" } });
  open.hasText = true;
  open.text += text;
  yield event(open, { event: "content-block-delta", index: 0, delta: { type: "text-delta", text } });
}

/** Tool calls are whole when the message is. */
function* toolBlocks(open: OpenMessage): Generator<ProtocolEvent> {
  const calls = Array.isArray(open.whole.tool_calls) ? (open.whole.tool_calls as readonly Json[]) : [];
  let index = open.hasText ? 1 : 0;
  for (const call of calls) {
    if (!isObject(call)) continue;
    const content = { type: "tool_call", id: call.id ?? "", name: call.name ?? "", args: call.args ?? {} };
    yield event(open, { event: "content-block-start", index, content });
    yield event(open, { event: "content-block-finish", index, content });
    index += 1;
  }
}

const event = ({ namespace, node, whole }: OpenMessage, data: JsonObject): ProtocolEvent => ({
  method: "messages",
  namespace,
  ...(node !== "" && { node }),
  data: { ...data, run_id: String(whole.id) },
});

function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: Json) => (isObject(block) && typeof block.text === "string" ? block.text : ""))
    .join("");
}
