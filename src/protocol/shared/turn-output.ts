import { isDeepEqual, toJsonLine } from "../../lib/json.ts";
import {
  type Artifact,
  appendedTextJson,
  isSettled,
  type Message,
  mediaTypeOf,
  type Part,
  type Step,
  type Task,
  type TaskEvent,
  textOf,
  textOfEvent,
  type Usage,
} from "../../model/index.ts";

/** The output of one turn, for dialects that know conversations and not tasks: blocks of text, files, data, and an end. */

/** A text that grows. */
export interface TextBlock {
  /** Unique in the turn. */
  readonly id: string;
  readonly kind: "text" | "reasoning";
  /** What was sent of it. */
  text: string;
  /** The JSON of its deltas before the text: the same in each, so a dialect makes it once. */
  head?: string;
}
export type FileOutput = Extract<Part, { kind: "bytes" | "url" }>;
export type DataValue = Extract<Part, { kind: "data" }>;

/** What a dialect does with the output of a turn. */
export interface TurnWriter {
  begin(task: Task): void;
  open(block: TextBlock): void;
  /** `json`: of the text, in one line. */
  append(block: TextBlock, text: string, json: string): void;
  close(block: TextBlock): void;
  file(part: FileOutput, artifact: Artifact): void;
  data(part: DataValue, artifact: Artifact): void;
  /** A message about progress. */
  progress(message: Message): void;
  /** The turn has ended; `messageOf` has its last message. */
  end(task: Task): void;
}

export interface TurnReaderOptions {
  /** undefined: that of the first step. */
  readonly turn?: number | undefined;
  /** In dialects that have text only: a file or data as a paragraph of the text. */
  readonly render?: (part: FileOutput | DataValue) => string;
}

/** Between paragraphs. */
export const SEPARATOR = "\n\n";

/** Runtimes put the reasoning of a model into an artifact of this name. */
const REASONING = "reasoning";

/**
 * Reads the steps of a log and calls the writer for one turn. A run that is repeated after a crash writes its artifacts
 * again: a reader that has seen the beginning gets only what follows it.
 */
export class TurnReader {
  readonly #writer: TurnWriter;
  readonly #turn: number | undefined;
  readonly #render: TurnReaderOptions["render"];
  readonly #blocks = new Map<string, OpenBlock>();
  /** The parts of artifacts with files or data. */
  readonly #parts = new Map<string, readonly Part[]>();
  #turns = 0;
  #hasBegun = false;
  isOver = false;

  constructor(writer: TurnWriter, { turn, render }: TurnReaderOptions = {}) {
    this.#writer = writer;
    this.#turn = turn;
    this.#render = render;
  }

  read(step: Step, closing: boolean): void {
    const { event } = step;
    if (!this.#hasBegun && !this.#begins(step)) return;
    if (event?.type === "artifact") this.#readArtifact(event, step);
    else if (event?.type === "status" && event.state === "working") {
      if (event.message) this.#writer.progress(event.message);
    }
    if (closing || isEnd(step)) this.#end(step.task);
  }

  #begins(step: Step): boolean {
    const { event } = step;
    if (event?.type === "message" && !event.again) this.#turns += 1;
    if (event && this.#turn !== undefined && this.#turns !== this.#turn) return false;
    if (event?.type === "created") return false;
    this.#hasBegun = true;
    this.#writer.begin(step.task);
    // A reader that joins in the middle gets what was written before.
    if (!event) for (const artifact of artifactsOf(step.task)) this.#readWhole(artifact);
    return true;
  }

  #readWhole(artifact: Artifact): void {
    this.#readArtifact({ type: "artifact", artifact, append: false, last: false, join: false }, undefined);
  }

  #readArtifact(event: TaskEvent & { type: "artifact" }, step: Step | undefined): void {
    const { artifact, append, last } = event;
    const { artifactId } = artifact;
    const known = this.#blocks.get(artifactId);
    // All readers of a log share the JSON of its chunks.
    const json = known && step ? appendedTextJson(step) : null;
    if (known && json !== null) return known.append(textOfEvent(event), false, this.#writer, json);
    if (!append) known?.restart();
    if (!append && isDeepEqual(this.#parts.get(artifactId), artifact.parts)) return;
    if (!this.#render && artifact.parts.some(part => part.kind !== "text"))
      this.#parts.set(artifactId, artifact.parts);
    for (const part of artifact.parts) this.#readPart(part, artifact);
    if (last) this.#blocks.get(artifactId)?.close(this.#writer);
  }

  #readPart(part: Part, artifact: Artifact): void {
    if (part.kind === "text") this.#blockOf(artifact).append(part.text, false, this.#writer);
    else if (this.#render) this.#blockOf(artifact).append(this.#render(part), true, this.#writer);
    else if (part.kind === "data") this.#writer.data(part, artifact);
    else this.#writer.file(part, artifact);
  }

  #blockOf({ artifactId, name }: Artifact): OpenBlock {
    let block = this.#blocks.get(artifactId);
    if (!block) {
      block = new OpenBlock(artifactId, name === REASONING ? "reasoning" : "text");
      this.#blocks.set(artifactId, block);
    }
    return block;
  }

  #end(task: Task): void {
    this.isOver = true;
    for (const block of this.#blocks.values()) block.close(this.#writer);
    this.#writer.end(task);
  }
}

/** Writes the text of a message as a block, if it has any. */
export function writeMessage({ messageId, parts }: Message, writer: TurnWriter): void {
  const text = textOf(parts);
  if (text === "") return;
  const block: TextBlock = { id: messageId, kind: "text", text };
  writer.open(block);
  writer.append(block, text, toJsonLine(text));
  writer.close(block);
}

/** A later turn of the same task may follow. The task of a chunk is not read: it would be folded for each of them. */
function isEnd(step: Step): boolean {
  const { event } = step;
  if (!event) return isSettled(step.task.status.state);
  return event.type === "reply" || (event.type === "status" && isSettled(event.state));
}

/** A block on the wire. A dialect that has no way to take text back continues in a new block. */
class OpenBlock {
  readonly #artifactId: string;
  readonly #kind: TextBlock["kind"];
  #count = 0;
  #hasText = false;
  #wasParagraph = false;
  #block: TextBlock | undefined;
  /** What a repeated run has written so far, while it repeats what was sent. */
  #repeated: string | undefined;

  constructor(artifactId: string, kind: TextBlock["kind"]) {
    this.#artifactId = artifactId;
    this.#kind = kind;
  }

  /** The artifact is written again from its beginning. */
  restart(): void {
    if (this.#block) this.#repeated = "";
    this.#hasText = false;
    this.#wasParagraph = false;
  }

  append(piece: string, isParagraph: boolean, writer: TurnWriter, json?: string): void {
    const text = this.#hasText && (isParagraph || this.#wasParagraph) ? SEPARATOR + piece : piece;
    this.#hasText ||= text !== "";
    this.#wasParagraph = isParagraph;
    if (this.#repeated === undefined) return this.#write(text, writer, text === piece ? json : undefined);
    this.#repeated += text;
    const sent = (this.#block as TextBlock).text;
    if (sent.startsWith(this.#repeated)) return;
    const written = this.#repeated;
    this.#repeated = undefined;
    if (written.startsWith(sent)) return this.#write(written.slice(sent.length), writer);
    this.close(writer);
    this.#write(written, writer);
  }

  close(writer: TurnWriter): void {
    if (this.#block) writer.close(this.#block);
    this.#block = undefined;
    this.#repeated = undefined;
  }

  #write(text: string, writer: TurnWriter, json = toJsonLine(text)): void {
    if (text === "") return;
    if (!this.#block) {
      this.#count += 1;
      const id = this.#count === 1 ? this.#artifactId : `${this.#artifactId}:${this.#count}`;
      this.#block = { id, kind: this.#kind, text: "" };
      writer.open(this.#block);
    }
    this.#block.text += text;
    writer.append(this.#block, text, json);
  }
}

/** The artifacts of the current turn. */
export const artifactsOf = ({ artifacts, current }: Task): readonly Artifact[] =>
  current ? artifacts.filter(({ artifactId }) => current.artifacts.includes(artifactId)) : artifacts;

/** The usage of the current turn. */
export const usageOf = ({ usage, current }: Task): Usage | undefined => (current ? current.usage : usage);

/** The message with which the current turn has ended: a question, a reason, a last word. */
export function messageOf({ status, reply }: Task): Message | undefined {
  if (reply) return reply;
  return status.state === "working" || status.state === "submitted" ? undefined : status.message;
}

/** Names a turn, for front ends that know messages or runs and not tasks: the first one as its task. */
export const toTurnId = ({ id, turn }: Task): string => (turn > 1 ? `${id}-${turn}` : id);

export const isReasoning = ({ name }: Artifact): boolean => name === REASONING;

/** A URL of the file: of its own, or with its content. */
export const toFileUrl = (part: FileOutput): string =>
  part.kind === "url" ? part.url : `data:${mediaTypeOf(part)};base64,${part.bytes}`;
