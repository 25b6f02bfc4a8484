import { defined, type JsonObject, toJsonLine } from "../../lib/json.ts";
import { type Artifact, type Message, mediaTypeOf, type Seq, type Task, textOf } from "../../model/index.ts";
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
import { type ToolRequest, toAsked } from "./interrupts.ts";

/** An artifact of this name is the state that the agent shares with its front end. */
const STATE = "state";

/** The events of AG-UI: a run is a turn of a task. */
export class AgUiEncoder extends TurnEncoder {
  readonly #runId: string;
  #prefix = "";
  #run: JsonObject = {};
  #step: string | undefined;

  constructor(runId: string, after: Seq | undefined) {
    super(after);
    this.#runId = runId;
  }

  override encodeFault({ code, message }: WireFault): readonly EncodedFrame[] {
    return [{ data: toJsonLine({ type: "RUN_ERROR", message, code }) }];
  }

  override begin(task: Task): void {
    this.#prefix = toTurnId(task);
    this.#run = { threadId: task.contextId, runId: this.#runId || this.#prefix };
    this.#push("RUN_STARTED", { ...this.#run, metadata: { taskId: task.id } });
  }

  override open(block: TextBlock): void {
    const messageId = this.#idOf(block);
    if (block.kind === "text") return this.#push("TEXT_MESSAGE_START", { messageId, role: "assistant" });
    this.#push("REASONING_START", { messageId });
    this.#push("REASONING_MESSAGE_START", { messageId, role: "reasoning" });
  }

  override append(block: TextBlock, _text: string, json: string): void {
    block.head ??= this.#headOf(block);
    this.push(`${block.head}${json}}`);
  }

  #headOf(block: TextBlock): string {
    const type = block.kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    return `{"type":"${type}","messageId":${toJsonLine(this.#idOf(block))},"delta":`;
  }

  override close(block: TextBlock): void {
    const messageId = this.#idOf(block);
    if (block.kind === "text") return this.#push("TEXT_MESSAGE_END", { messageId });
    this.#push("REASONING_MESSAGE_END", { messageId });
    this.#push("REASONING_END", { messageId });
  }

  /** AG-UI has no files in answers. */
  override file(part: FileOutput, { artifactId, name }: Artifact): void {
    const value = {
      artifactId,
      name,
      filename: part.filename,
      mimeType: mediaTypeOf(part),
      url: toFileUrl(part),
    };
    this.#push("CUSTOM", { name: "file", value: defined<JsonObject>(value as never) });
  }

  override data({ data }: DataValue, { artifactId, name = "data" }: Artifact): void {
    if (name === STATE) this.#push("STATE_SNAPSHOT", { snapshot: data });
    else this.#push("CUSTOM", { name, value: { artifactId, data } });
  }

  /** Each message about progress begins a step. */
  override progress({ parts }: Message): void {
    const text = textOf(parts);
    if (text === "") return;
    this.#finishStep();
    this.#step = text;
    this.#push("STEP_STARTED", { stepName: text });
  }

  override end(task: Task): void {
    const { state } = task.status;
    const message = messageOf(task);
    this.#finishStep();
    const tokens = usageOf(task);
    const usage = tokens ? { usage: [{ ...tokens }] } : {};
    if (state === "failed" || state === "rejected") {
      const text = textOf(message?.parts ?? []) || `The task was ${state}`;
      return this.#push("RUN_ERROR", { message: text, code: state, ...usage });
    }
    if (message) writeMessage(message, this);
    const waits = state === "input-required" || state === "auth-required";
    const outcome =
      state === "canceled" ? { type: "cancelled" } : waits ? this.#ask(task) : { type: "success" };
    this.#push("RUN_FINISHED", { ...this.#run, outcome, ...usage, metadata: { taskId: task.id, state } });
  }

  /** Tools of the front end are called; other questions are interrupts. */
  #ask(task: Task): JsonObject {
    const { interrupts, calls } = toAsked(task);
    for (const call of calls) this.#callTool(call);
    if (interrupts.length > 0) return { type: "interrupt", interrupts };
    return { type: "success", pendingToolCallIds: calls.map(({ id }) => id) };
  }

  #callTool({ id, name, args }: ToolRequest): void {
    this.#push("TOOL_CALL_START", { toolCallId: id, toolCallName: name });
    this.#push("TOOL_CALL_ARGS", { toolCallId: id, delta: JSON.stringify(args) });
    this.#push("TOOL_CALL_END", { toolCallId: id });
  }

  #finishStep(): void {
    if (this.#step !== undefined) this.#push("STEP_FINISHED", { stepName: this.#step });
    this.#step = undefined;
  }

  /** Artifacts have the same ids in every task. */
  #idOf({ id }: TextBlock): string {
    return `${this.#prefix}:${id}`;
  }

  #push(type: string, value: JsonObject): void {
    this.pushJson({ type, ...value });
  }
}
