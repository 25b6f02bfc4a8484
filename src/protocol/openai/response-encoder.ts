import { type Json, type JsonObject, toJsonLine } from "../../lib/json.ts";
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
 * encoding it again and leaving out what the caller has. A whole text is in four events, and the same members are in many:
 * the JSON of both is made once.
 */
export class ResponseEncoder extends TurnEncoder {
  readonly #options: ResponseStreamOptions;
  #number = 0;
  #taskId = "" as TaskId;
  /** The output, by block. */
  readonly #items = new Map<string, WrittenItem>();

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
    return [{ event: "error", data: this.#toEvent("error", toMembers(value)) }];
  }

  override begin(task: Task): void {
    this.#taskId = task.id;
    const working: Task = { ...task, status: { state: "working", at: task.status.at } };
    const members = toMembers({ response: encodeResponse(working, this.#options, []) });
    this.#push("response.created", members);
    this.#push("response.in_progress", members);
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
      const texts: string[] = [];
      const output = encodeOutput(task, this.#options, item => this.#reuse(item, texts));
      const members = toMembers({ response: encodeResponse(task, this.#options, output) });
      const type = END_EVENTS[state as keyof typeof END_EVENTS] ?? "response.completed";
      this.#push(type, insertTexts(members, texts));
    } catch (error) {
      const { message } = toFault(error);
      this.#push("error", toMembers({ code: "invalid_agent_response", message, param: null }));
    }
  }

  #write(id: string, text: string): void {
    if (text === "") return;
    const block: TextBlock = { id, kind: "text", text };
    this.#openItem(block);
    this.#appendItem(block, toJsonLine(text));
    this.#closeItem(block);
  }

  #openItem(block: TextBlock): void {
    const { place } = this.#addItem(block);
    const { added, part } = EVENTS[block.kind];
    this.#push(added, `${place},"part":${part('""')}`);
    block.head = `,${place},"delta":`;
  }

  #addItem({ id, kind }: TextBlock): WrittenItem {
    const output_index = this.#items.size;
    const at = kind === "text" ? { content_index: 0 } : { summary_index: 0 };
    const place = toMembers({ item_id: toItemId(this.#taskId, { id, kind }), output_index, ...at });
    const written = { place, output_index, pieces: [], text: "", json: "" };
    this.#items.set(id, written);
    const item = encodeItem(this.#taskId, { id, kind, text: "" }, "in_progress");
    this.#push("response.output_item.added", toMembers({ output_index, item }));
    return written;
  }

  /** `json`: of the text, in one line. */
  #appendItem({ id, kind, head }: TextBlock, json: string): void {
    (this.#items.get(id) as WrittenItem).pieces.push(json.slice(1, -1));
    const number = this.#number++;
    if (this.#isKnown(number)) return;
    const { delta, deltaHead, deltaEnd } = EVENTS[kind];
    this.push(deltaHead + number + head + json + deltaEnd, delta);
  }

  #closeItem({ id, kind, text }: TextBlock): void {
    const written = this.#items.get(id) as WrittenItem;
    const { place, output_index, pieces } = written;
    const json = `"${pieces.join("")}"`;
    this.#items.set(id, { ...written, text, json, pieces: [] });
    const { done, doneEnd, partDone, part } = EVENTS[kind];
    this.#push(done, `${place},"text":${json}${doneEnd}`);
    this.#push(partDone, `${place},"part":${part(json)}`);
    const item = encodeItem(this.#taskId, { id, kind, text: TEXT }, "completed");
    this.#push("response.output_item.done", insertTexts(toMembers({ output_index, item }), [json]));
  }

  /** The text of an item of the finished response: `TEXT` for one of `texts`, or the text itself. */
  #reuse({ id, text }: OutputItem, texts: string[]): string {
    const written = this.#items.get(id);
    const isWritten = written?.text === text;
    if (!isWritten && text !== TEXT) return text;
    texts.push(isWritten ? written.json : TEXT_JSON);
    return TEXT;
  }

  #refuse(task: Task): void {
    const refusal = toMessageText(task);
    const block: TextBlock = { id: messageOf(task)?.messageId ?? "", kind: "text", text: refusal };
    const { place, output_index } = this.#addItem(block);
    const json = toJsonLine(refusal);
    this.#push("response.content_part.added", `${place},"part":{"type":"refusal","refusal":""}`);
    this.#push("response.refusal.delta", `${place},"delta":${json}`);
    this.#push("response.refusal.done", `${place},"refusal":${json}`);
    this.#push("response.content_part.done", `${place},"part":{"type":"refusal","refusal":${json}}`);
    const item = encodeRefusal(this.#taskId, block);
    this.#push("response.output_item.done", toMembers({ output_index, item }));
  }

  /** `members`: of the event, as JSON without braces. */
  #push(type: string, members: string): void {
    if (this.#isKnown(this.#number)) this.#number += 1;
    else this.push(this.#toEvent(type, members), type);
  }

  /** The caller has this event. */
  #isKnown(sequence_number: number): boolean {
    const { startingAfter } = this.#options;
    return startingAfter !== undefined && sequence_number <= startingAfter;
  }

  #toEvent(type: string, members: string): string {
    return `{"type":"${type}","sequence_number":${this.#number++},${members}}`;
  }
}

interface WrittenItem {
  /** The members of all events about the content of the item. */
  readonly place: string;
  readonly output_index: number;
  /** Of the JSON of the text, while it grows. */
  readonly pieces: string[];
  /** Of a closed item. */
  readonly text: string;
  readonly json: string;
}

const toMembers = (value: JsonObject): string => toJsonLine(value).slice(1, -1);

/** Stands for a text. */
const TEXT = "\u0000";
const TEXT_JSON = toJsonLine(TEXT);

/** `texts`: the JSON of those for which `TEXT` stands. A refusal and the caller's metadata, which may be such a text, come later. */
function insertTexts(json: string, texts: readonly string[]): string {
  let whole = "";
  let from = 0;
  for (const text of texts) {
    const at = json.indexOf(TEXT_JSON, from);
    whole += json.slice(from, at) + text;
    from = at + TEXT_JSON.length;
  }
  return whole + json.slice(from);
}

const NOT_FOUND = {
  body: { error: { message: "Response not found", code: "response_not_found", param: null } },
};

/** The events about the content of an item, and the JSON in which they differ. */
const EVENTS = {
  text: toEvents("response.output_text", "response.content_part", ',"logprobs":[]', encodeTextPart(TEXT)),
  reasoning: toEvents("response.reasoning_summary_text", "response.reasoning_summary_part", "", {
    type: "summary_text",
    text: TEXT,
  }),
};

/** `end`: the last members of events with text; `part`: with `TEXT`. */
function toEvents(text: string, partName: string, end: string, part: JsonObject) {
  const delta = `${text}.delta`;
  return {
    added: `${partName}.added`,
    delta,
    deltaHead: `{"type":"${delta}","sequence_number":`,
    deltaEnd: `${end}}`,
    done: `${text}.done`,
    doneEnd: end,
    partDone: `${partName}.done`,
    part: (json: string): string => insertTexts(toJsonLine(part), [json]),
  };
}

const END_EVENTS = { failed: "response.failed", canceled: "response.incomplete" } as const;
