import { type JsonObject, toJsonLine } from "../../lib/json.ts";
import type { Artifact, Message, Seq, Step, Task } from "../../model/index.ts";
import type { EncodedFrame, StreamEncoder, WireFault } from "../../ports/index.ts";
import {
  type DataValue,
  type FileOutput,
  type TextBlock,
  TurnReader,
  type TurnReaderOptions,
  type TurnWriter,
} from "./turn-output.ts";

/** Encodes the stream of one turn. A front end writes the output of the turn as frames, with `push`. */
export abstract class TurnEncoder implements StreamEncoder, TurnWriter {
  readonly after: Seq | undefined;
  readonly #reader: TurnReader;
  #frames: EncodedFrame[] = [];

  constructor(after: Seq | undefined, options?: TurnReaderOptions) {
    this.after = after;
    this.#reader = new TurnReader(this, options);
  }

  get isOver(): boolean {
    return this.#reader.isOver;
  }

  encode(step: Step, closing: boolean): readonly EncodedFrame[] {
    this.#frames = [];
    this.#reader.read(step, closing);
    return this.#frames;
  }

  /** `data`: a line of JSON, or a mark. */
  protected push(data: string, event?: string): void {
    this.#frames.push(event === undefined ? { data } : { event, data });
  }

  protected pushJson(value: JsonObject): void {
    this.push(toJsonLine(value));
  }

  abstract encodeFault(fault: WireFault): readonly EncodedFrame[];
  abstract begin(task: Task): void;
  abstract append(block: TextBlock, text: string, json: string): void;
  abstract end(task: Task): void;

  open(_block: TextBlock): void {}
  close(_block: TextBlock): void {}
  file(_part: FileOutput, _artifact: Artifact): void {}
  data(_part: DataValue, _artifact: Artifact): void {}
  progress(_message: Message): void {}
}
