import type { Json, JsonObject } from "../../lib/json.ts";
import { type Seq, type Step, type Task, type TaskId, toFault } from "../../model/index.ts";
import type { EncodedFrame, WireFault } from "../../ports/index.ts";
import { TurnEncoder } from "../shared/turn-encoder.ts";
import { messageOf, type TextBlock } from "../shared/turn-output.ts";
import { type OutputItem, toJsonText, toMessageText, toParagraph } from "./content.ts";
import {
  encodeItem,
  encodeOutput,
  encodeRefusal,
  encodeResponse,
  encodeTextPart,
  type ResponseOptions,
  toItemId,
} from "./encode-response.ts";

export interface ResponseStreamOptions extends ResponseOptions {
  readonly turn: number | undefined;
  /** The sequence number of the last event that the caller has. */
  readonly startingAfter: number | undefined;
  /** Likewise, for clients that use the ids of the stream. */
  readonly after: Seq | undefined;
}

/**
 * The events of a response. They are numbered from 0, and the same log gives the same numbers: a stream is resumed by
 * encoding it again and leaving out what the caller has.
 */
export class ResponseEncoder extends TurnEncoder {
  readonly #options: ResponseStreamOptions;
  #number = 0;
  #taskId = "" as TaskId;
  /** The index of each item in the output, by block. */
  readonly #indexes = new Map<string, number>();
  /** By block. */
  readonly #written = new Map<string, WrittenText>();

  constructor(options: ResponseStreamOptions) {
    super(options.after, { turn: options.turn, render: toParagraph });
    this.#options = options;
  }

  override encode(step: Step, closing: boolean): readonly EncodedFrame[] {
    const frames = super.encode(step, closing);
    // The log has ended before the turn: no such response exists.
    return closing && this.#taskId === "" ? this.encodeFault(NOT_FOUND) : frames;
  }

  override encodeFault({ body }: Pick<WireFault, "body">): readonly EncodedFrame[] {
    const { message, code, param } = (body as { readonly error: JsonObject }).error;
    const value = { code: code as Json, message: message as Json, param: param as Json };
    return [{ event: "error", data: this.#toEvent("error", value) }];
  }

  override begin(task: Task): void {
    this.#taskId = task.id;
    const working: Task = { ...task, status: { state: "working", at: task.status.at } };
    const response = encodeResponse(working, this.#options, []);
    this.#push("response.created", { response });
    this.#push("response.in_progress", { response });
  }

  override open(block: TextBlock): void {
    if (this.#options.isJson) return;
    this.#openItem(block);
  }

  override append(block: TextBlock, _text: string, json: string): void {
    if (this.#options.isJson) return;
    this.#appendItem(block, json);
  }

  override close(block: TextBlock): void {
    if (this.#options.isJson) return;
    this.#closeItem(block);
  }

  override end(task: Task): void {
    const { state } = task.status;
    try {
      if (state === "rejected") this.#refuse(task);
      else if (this.#options.isJson && state === "completed") this.#write("json", toJsonText(task));
      else if (state !== "failed") this.#write(messageOf(task)?.messageId ?? "", toMessageText(task));
      const used: WrittenText[] = [];
      const output = encodeOutput(task, this.#options, item => this.#reuse(item, used));
      const response = encodeResponse(task, this.#options, output);
      this.#push(END_EVENTS[state as keyof typeof END_EVENTS] ?? "response.completed", { response }, used);
    } catch (error) {
      const { message } = toFault(error);
      this.#push("error", { code: "invalid_agent_response", message, param: null });
    }
  }

  #write(id: string, text: string): void {
    if (text === "") return;
    const block: TextBlock = { id, kind: "text", text };
    this.#openItem(block);
    this.#appendItem(block, JSON.stringify(text));
    this.#closeItem(block);
  }

  #openItem(block: TextBlock): void {
    const output_index = this.#indexes.size;
    this.#indexes.set(block.id, output_index);
    const item = encodeItem(this.#taskId, { ...block, text: "" }, "in_progress");
    this.#push("response.output_item.added", { output_index, item });
    if (block.kind === "text")
      this.#push("response.content_part.added", { ...this.#place(block), part: encodeTextPart("") });
    else
      this.#push("response.reasoning_summary_part.added", {
        ...this.#place(block),
        part: { type: "summary_text", text: "" },
      });
  }

  /** `json`: of the text. */
  #appendItem(block: TextBlock, json: string): void {
    const sequence_number = this.#number++;
    if (this.#isKnown(sequence_number)) return;
    const type = DELTAS[block.kind];
    block.head ??= `${JSON.stringify(this.#place(block)).slice(1, -1)},"delta":`;
    const rest = block.kind === "text" ? ',"logprobs":[]' : "";
    this.push(`{"type":"${type}","sequence_number":${sequence_number},${block.head}${json}${rest}}`, type);
  }

  #closeItem(block: TextBlock): void {
    const { kind, text } = block;
    const place = this.#place(block);
    const written = { text, json: JSON.stringify(text) };
    this.#written.set(block.id, written);
    if (kind === "text") {
      this.#push("response.output_text.done", { ...place, text: TEXT, logprobs: [] }, [written]);
      this.#push("response.content_part.done", { ...place, part: encodeTextPart(TEXT) }, [written]);
    } else {
      const part = { type: "summary_text", text: TEXT };
      this.#push("response.reasoning_summary_text.done", { ...place, text: TEXT }, [written]);
      this.#push("response.reasoning_summary_part.done", { ...place, part }, [written]);
    }
    const output_index = place.output_index as number;
    const item = encodeItem(this.#taskId, { ...block, text: TEXT }, "completed");
    this.#push("response.output_item.done", { output_index, item }, [written]);
  }

  /** The text of an item of the finished response: `TEXT` and the text as it was written, or the text itself. */
  #reuse({ id, text }: OutputItem, used: WrittenText[]): string {
    const written = this.#written.get(id);
    const isWritten = written?.text === text;
    if (!isWritten && text !== TEXT) return text;
    used.push(isWritten ? written : { text, json: TEXT_JSON });
    return TEXT;
  }

  #refuse(task: Task): void {
    const refusal = toMessageText(task);
    const block: TextBlock = { id: messageOf(task)?.messageId ?? "", kind: "text", text: refusal };
    const output_index = this.#indexes.size;
    this.#indexes.set(block.id, output_index);
    const place = this.#place(block);
    const item = encodeItem(this.#taskId, { ...block, text: "" }, "in_progress");
    this.#push("response.output_item.added", { output_index, item });
    this.#push("response.content_part.added", { ...place, part: { type: "refusal", refusal: "" } });
    this.#push("response.refusal.delta", { ...place, delta: refusal });
    this.#push("response.refusal.done", { ...place, refusal });
    this.#push("response.content_part.done", { ...place, part: { type: "refusal", refusal } });
    this.#push("response.output_item.done", { output_index, item: encodeRefusal(this.#taskId, block) });
  }

  #place(block: TextBlock): JsonObject {
    const at = block.kind === "text" ? { content_index: 0 } : { summary_index: 0 };
    const item_id = toItemId(this.#taskId, block);
    return { item_id, output_index: this.#indexes.get(block.id) as number, ...at };
  }

  /** `texts`: those for which `TEXT` stands in the value, in their order. */
  #push(type: string, value: JsonObject, texts: readonly WrittenText[] = []): void {
    if (this.#isKnown(this.#number)) this.#number += 1;
    else this.push(insertTexts(this.#toEvent(type, value), texts), type);
  }

  /** The caller has this event. */
  #isKnown(sequence_number: number): boolean {
    const { startingAfter } = this.#options;
    return startingAfter !== undefined && sequence_number <= startingAfter;
  }

  #toEvent(type: string, value: JsonObject): string {
    return JSON.stringify({ type, sequence_number: this.#number++, ...value });
  }
}

/** A whole text is in four events: its JSON is made once. */
interface WrittenText {
  readonly text: string;
  readonly json: string;
}

/** Stands for a text. */
const TEXT = "\u0000";
const TEXT_JSON = JSON.stringify(TEXT);

/** A refusal and the metadata of the caller, which may be such a text, come after the texts. */
function insertTexts(event: string, texts: readonly WrittenText[]): string {
  let whole = "";
  let from = 0;
  for (const { json } of texts) {
    const at = event.indexOf(TEXT_JSON, from);
    whole += event.slice(from, at) + json;
    from = at + TEXT_JSON.length;
  }
  return whole + event.slice(from);
}

const NOT_FOUND = {
  body: { error: { message: "Response not found", code: "response_not_found", param: null } },
};

const DELTAS = {
  text: "response.output_text.delta",
  reasoning: "response.reasoning_summary_text.delta",
} as const;
const END_EVENTS = { failed: "response.failed", canceled: "response.incomplete" } as const;
