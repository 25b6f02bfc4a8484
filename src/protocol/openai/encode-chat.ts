import { defined, type Json, type JsonObject, toJsonLine } from "../../lib/json.ts";
import { Fault, isSettled, type Seq, type Task, textOf, toFault } from "../../model/index.ts";
import type { EncodedFrame, WireFault } from "../../ports/index.ts";
import { TurnEncoder } from "../shared/turn-encoder.ts";
import { messageOf, SEPARATOR, type TextBlock, usageOf } from "../shared/turn-output.ts";
import { outputOf, toJsonText, toMessageText, toParagraph, toTokens } from "./content.ts";
import { toErrorBody } from "./faults.ts";
import { toCompletionId } from "./ids.ts";

const toSeconds = (ms: number): number => Math.floor(ms / 1_000);

export function encodeCompletion(task: Task, isJson: boolean): JsonObject {
  const failure = toFailure(task);
  if (failure) throw failure;
  const items = isJson && task.status.state === "completed" ? [] : outputOf(task);
  const reasoning = items.filter(({ kind }) => kind === "reasoning").map(({ text }) => text);
  const texts = items.filter(({ kind }) => kind === "text").map(({ text }) => text);
  const isRefusal = task.status.state === "rejected";
  const content = isJson && items.length === 0 ? toJsonText(task) : texts.join(SEPARATOR);
  return defined<JsonObject>({
    ...headOf(task, "chat.completion"),
    choices: [
      {
        index: 0,
        message: defined<JsonObject>({
          role: "assistant",
          content: isRefusal ? null : content,
          refusal: isRefusal ? content : null,
          reasoning_content: reasoning.length > 0 ? reasoning.join(SEPARATOR) : (undefined as never),
        }),
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: encodeUsage(task) as Json,
    metadata: toMarker(task),
  });
}

/** A task that has no answer is an error; a refusal and a question are answers. */
function toFailure(task: Task): Fault | undefined {
  const { state } = task.status;
  const details = { taskId: task.id, facts: { state } };
  if (!isSettled(state))
    return new Fault("too-slow", "The agent is still working; read the response later", details);
  if (state !== "failed" && state !== "canceled") return undefined;
  const reason = textOf(messageOf(task)?.parts ?? []);
  const text = state === "failed" ? "The agent failed" : "The task was canceled";
  return new Fault("invalid-agent-response", reason || text, details);
}

const headOf = (task: Task, object: string): JsonObject => ({
  id: toCompletionId(task),
  object,
  created: toSeconds(task.createdAt),
  model: task.agent,
});

/** The task behind the completion: a question has the state input-required, and is answered in the same context. */
const toMarker = ({ id, contextId, status }: Task): JsonObject => ({
  task_id: id,
  context_id: contextId,
  state: status.state,
});

function encodeUsage(task: Task): JsonObject | undefined {
  const tokens = toTokens(usageOf(task));
  return (
    tokens && {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.total,
      prompt_tokens_details: { cached_tokens: tokens.cached },
      completion_tokens_details: { reasoning_tokens: tokens.reasoning },
    }
  );
}
const NO_USAGE: JsonObject = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

export interface ChatOptions {
  readonly isJson: boolean;
  readonly withUsage: boolean;
  readonly after: Seq | undefined;
}

/** Chunks: the role, texts, the reason to stop, the usage if it is wanted, and `[DONE]`. */
export class ChatEncoder extends TurnEncoder {
  readonly #options: ChatOptions;
  /** The JSON of a chunk before and after the text. */
  #head = "";
  #tail = "";
  #last: string | undefined;
  readonly #kinds = new Set<string>();

  constructor(options: ChatOptions) {
    super(options.after, { render: toParagraph });
    this.#options = options;
  }

  override encodeFault({ body }: WireFault): readonly EncodedFrame[] {
    return [{ data: toJsonLine(body as Json) }];
  }

  override begin(task: Task): void {
    const usage = this.#options.withUsage ? ',"usage":null' : "";
    this.#head = `${toJsonLine(headOf(task, "chat.completion.chunk")).slice(0, -1)},"choices":[{"index":0,"delta":`;
    this.#tail = `,"logprobs":null,"finish_reason":null}]${usage}}`;
    this.push(`${this.#head}{"role":"assistant","content":"","refusal":null}${this.#tail}`);
  }

  override append({ id, kind }: TextBlock, text: string, json: string): void {
    if (this.#options.isJson) return;
    const separator = this.#separate(id, kind);
    const shown = separator === "" ? json : toJsonLine(separator + text);
    this.#say(kind === "reasoning" ? "reasoning_content" : "content", shown);
  }

  override end(task: Task): void {
    const failure =
      toFailure(task) ?? (this.#options.isJson ? this.#writeJson(task) : this.#writeMessage(task));
    if (failure) return this.pushJson(toErrorBody(failure));
    const head = headOf(task, "chat.completion.chunk");
    const choices = [{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }];
    const { withUsage } = this.#options;
    this.pushJson({ ...head, choices, metadata: toMarker(task), ...(withUsage && { usage: null }) });
    if (withUsage) this.pushJson({ ...head, choices: [], usage: encodeUsage(task) ?? NO_USAGE });
    this.push("[DONE]");
  }

  #writeMessage(task: Task): undefined {
    const text = toMessageText(task);
    if (text === "") return;
    const member = task.status.state === "rejected" ? "refusal" : "content";
    this.#say(member, toJsonLine(this.#separate("message", member) + text));
  }

  /** A question is text, whatever the format. */
  #writeJson(task: Task): Fault | undefined {
    if (task.status.state !== "completed") return this.#writeMessage(task);
    try {
      this.#say("content", toJsonLine(toJsonText(task)));
    } catch (error) {
      return toFault(error);
    }
  }

  /** Texts of several artifacts are paragraphs. */
  #separate(id: string, kind: string): string {
    const isFirst = !this.#kinds.has(kind);
    const isSame = this.#last === id;
    this.#kinds.add(kind);
    this.#last = id;
    return isFirst || isSame ? "" : SEPARATOR;
  }

  /** `json`: of the text. */
  #say(member: string, json: string): void {
    this.push(`${this.#head}{"${member}":${json}}${this.#tail}`);
  }
}
