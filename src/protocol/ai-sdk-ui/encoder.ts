import { defined, type Json, type JsonObject, toJsonLine } from "../../lib/json.ts";
import { type Artifact, type Message, mediaTypeOf, type Task, textOf } from "../../model/index.ts";
import type { EncodedFrame, WireFault } from "../../ports/index.ts";
import { TurnEncoder } from "../shared/turn-encoder.ts";
import {
  type DataValue,
  type FileOutput,
  messageOf,
  type TextBlock,
  toFileUrl,
  toTurnId,
  usageOf,
  writeMessage,
} from "../shared/turn-output.ts";

/** The UI message stream of the AI SDK: one message of the assistant for each turn. */
export class UiMessageEncoder extends TurnEncoder {
  override encodeFault({ message }: WireFault): readonly EncodedFrame[] {
    return [{ data: toJsonLine({ type: "error", errorText: message }) }, { data: DONE }];
  }

  override begin(task: Task): void {
    const { id, contextId, agent } = task;
    this.pushJson({
      type: "start",
      messageId: toTurnId(task),
      messageMetadata: { taskId: id, contextId, agent },
    });
    this.pushJson({ type: "start-step" });
  }

  override open({ id, kind }: TextBlock): void {
    this.pushJson({ type: `${kind}-start`, id });
  }

  override append(block: TextBlock, _text: string, json: string): void {
    block.head ??= `{"type":"${block.kind}-delta","id":${toJsonLine(block.id)},"delta":`;
    this.push(`${block.head}${json}}`);
  }

  override close({ id, kind }: TextBlock): void {
    this.pushJson({ type: `${kind}-end`, id });
  }

  override file(part: FileOutput): void {
    const { filename } = part;
    this.pushJson(
      defined<JsonObject>({
        type: "file",
        url: toFileUrl(part),
        mediaType: mediaTypeOf(part),
        filename,
      } as never),
    );
  }

  /** Data with an id replaces the data of the same id: so does an artifact. */
  override data(part: DataValue, { artifactId, name }: Artifact): void {
    this.pushJson({ type: toDataType(name ?? "artifact"), id: artifactId, data: part.data });
  }

  /** Shown while the agent works, and not kept. */
  override progress({ parts }: Message): void {
    const text = textOf(parts);
    if (text !== "") this.pushJson({ type: "data-status", data: { text }, transient: true });
  }

  override end(task: Task): void {
    const { state } = task.status;
    const message = messageOf(task);
    if (state === "failed")
      this.pushJson({ type: "error", errorText: textOf(message?.parts ?? []) || "The agent failed" });
    else if (message) this.#writeLast(message);
    if (state === "canceled")
      this.pushJson({ type: "abort", reason: task.cancel?.reason ?? "The task was canceled" });
    this.pushJson({ type: "finish-step" });
    const usage = usageOf(task);
    const messageMetadata = { state, ...(usage && { usage: { ...usage } }) };
    this.pushJson({ type: "finish", finishReason: REASONS[state] ?? "stop", messageMetadata });
    this.push(DONE);
  }

  /** The text, and each of several questions with its id. */
  #writeLast(message: Message): void {
    writeMessage(message, this);
    for (const part of message.parts)
      if (part.kind === "data") this.pushJson(toQuestion(part.data, message));
      else if (part.kind !== "text") this.file(part);
  }
}

const DONE = "[DONE]";
const REASONS: Partial<Record<string, string>> = {
  failed: "error",
  canceled: "interrupted",
  rejected: "content-filter",
};

/** A name that follows `data-`. */
const toDataType = (name: string): string => `data-${name.replace(/[^\w-]+/g, "-") || "artifact"}`;

function toQuestion(data: Json, { messageId }: Message): JsonObject {
  const { id, question } = data as { readonly id?: Json; readonly question?: Json };
  return typeof id === "string" && question !== undefined
    ? { type: "data-question", id, data }
    : { type: "data-message", id: messageId, data };
}
