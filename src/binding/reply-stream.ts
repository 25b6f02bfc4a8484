import type { BatchSource } from "../lib/batch-source.ts";
import type { Wakeable } from "../lib/latch.ts";
import {
  appendedTextJson,
  DerivedStep,
  type Fault,
  LIMITS,
  type Scope,
  type Step,
  type TaskEvent,
  textAppendTarget,
  toTextAppend,
} from "../model/index.ts";
import type {
  CallObserver,
  Dialect,
  EncodedStep,
  Frame,
  Release,
  ReplyContext,
  StepBatch,
  Steps,
  WireFault,
} from "../ports/index.ts";

/** What a dialect made of a step is kept with the step, so that many readers cost one encoding. */
interface Memo {
  readonly by: Dialect;
  readonly form: string | undefined;
  readonly ends: boolean;
  readonly frame: Frame | null;
  readonly more: Memo | undefined;
}

/** The JSON of a step that adds words to an artifact, around the words. */
interface Mould {
  readonly artifactId: string;
  readonly head: string;
  readonly tail: string;
  readonly event: string | undefined;
}

/** A call, the dialect that speaks, and whoever watches. */
export interface Heard {
  readonly call: ReplyContext;
  readonly dialect: Dialect;
  readonly watched: CallObserver | undefined;
}

/** Whoever decides how something is said. */
export interface Speaker {
  /** The dialect in which a caller hears of a task that was begun in the dialect `origin`. */
  voiceOf(dialect: Dialect, call: ReplyContext, origin: string | undefined): Dialect;
  /** What is said instead of going on; it is also told to whoever watches. */
  refuse(heard: Heard, error: unknown): WireFault;
  /** Takes room for large frames, or throws a Fault. */
  hold(scope: Scope, bytes: number): Release;
}

/** What one call gets to read, until there is no more, or something goes wrong, or the caller may read no longer. */
export class Frames implements BatchSource<readonly Frame[]> {
  readonly #speaker: Speaker;
  readonly #heard: Heard;
  readonly #form: string | undefined;
  readonly #steps: Steps;
  readonly #scope: Scope;
  /** Of large frames, until the reader comes back for more. */
  #release: Release | undefined;
  #writer: FrameWriter | undefined;
  #unleash: (() => void) | undefined;
  /** Why the caller may read no longer. */
  #lapsed: Fault | undefined;
  isOver = false;

  constructor(speaker: Speaker, heard: Heard, form: string | undefined, steps: Steps, scope: Scope) {
    this.#speaker = speaker;
    this.#heard = heard;
    this.#form = form;
    this.#steps = steps;
    this.#scope = scope;
  }

  /** Ends the reading of somebody whose credentials are good no longer. */
  leash(hold: (cut: (fault: Fault) => void) => () => void): void {
    this.#unleash = hold(fault => {
      this.#lapsed = fault;
      this.#steps.close();
    });
  }

  async take(): Promise<readonly Frame[] | null> {
    this.#letGo();
    if (this.isOver) return null;
    try {
      for (let bunch = await this.#steps.take(); bunch; bunch = await this.#steps.take()) {
        const frames = this.#write(bunch);
        if (frames.length > 0) return frames;
      }
      if (!this.#steps.isOver) return null;
      if (this.#lapsed) throw this.#lapsed;
      this.close();
      return null;
    } catch (error) {
      const fault = this.#speaker.refuse(this.#heard, error);
      this.close();
      return [{ json: "", fault }];
    }
  }

  wakes(sleeper: Wakeable): void {
    this.#steps.wakes(sleeper);
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#letGo();
    this.#steps.close();
    this.#unleash?.();
    this.#heard.watched?.ended();
  }

  #write(bunch: StepBatch): readonly Frame[] {
    const { dialect, call, watched } = this.#heard;
    watched?.read(bunch.steps);
    const origin = bunch.steps[0]?.task.origin;
    this.#writer ??= new FrameWriter(this.#speaker.voiceOf(dialect, call, origin), this.#form);
    const frames = this.#writer.write(bunch);
    let longest = "";
    for (let i = 0; i < frames.length; i++) {
      const { json } = frames[i] as Frame;
      if (json.length > longest.length) longest = json;
    }
    // They are written one after another, and small ones are gathered to pieces of a bounded size.
    if (longest.length > LIMITS.pieceBytes)
      this.#release = this.#speaker.hold(this.#scope, Buffer.byteLength(longest));
    return frames;
  }

  #letGo(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** Steps to frames, for one reader of one task; `form`: of those that the dialect has, the one that the reader speaks. */
export class FrameWriter {
  readonly #dialect: Dialect;
  readonly #form: string | undefined;
  #mould: Mould | null = null;
  #bare = false;

  constructor(dialect: Dialect, form: string | undefined) {
    this.#dialect = dialect;
    this.#form = form;
  }

  write({ steps, closing }: StepBatch): readonly Frame[] {
    const frames: Frame[] = [];
    for (let i = 0; i < steps.length; i++) {
      const frame = this.#frameOf(steps[i] as Step, closing && i === steps.length - 1);
      if (frame) frames.push(frame);
    }
    return frames;
  }

  #frameOf(step: Step, ends: boolean): Frame | null {
    const known = step.memo as Memo | undefined;
    for (let memo = known; memo; memo = memo.more)
      if (memo.by === this.#dialect && memo.form === this.#form && memo.ends === ends) return memo.frame;
    const words = this.#bare || ends ? null : appendedTextJson(step);
    const frame = (words !== null && this.#cast(step, words)) || this.#toFrame(step, ends);
    step.memo = { by: this.#dialect, form: this.#form, ends, frame, more: known } satisfies Memo;
    return frame;
  }

  #toFrame(step: Step, ends: boolean): Frame | null {
    const said = this.#dialect.encodeStep(step, ends, this.#form);
    if (!said) return null;
    return {
      id: step.seq,
      json: inOneLine(JSON.stringify(said.data)),
      ...(said.event !== undefined && { event: said.event }),
      ...(said.bare && { bare: true }),
    };
  }

  /** Words differ from each other in their text alone: the rest of their JSON is made once. */
  #cast(step: Step, words: string): Frame | null {
    const artifactId = textAppendTarget(step.event as TaskEvent) as string;
    if (this.#mould?.artifactId !== artifactId)
      this.#mould = createMould(like => this.#dialect.encodeStep(like, false, this.#form), step, artifactId);
    const mould = this.#mould;
    this.#bare = mould === null;
    if (!mould) return null;
    const json = mould.head + inOneLine(words) + mould.tail;
    return mould.event === undefined ? { id: step.seq, json } : { id: step.seq, event: mould.event, json };
  }
}

/** Never in a text: it would be a control character. */
const BLANK = "\u0000words\u0000";

/** null: this dialect says more than the words (what it takes from the task may change, or it has a form of its own). */
function createMould(say: (step: Step) => EncodedStep | null, like: Step, artifactId: string): Mould | null {
  const blank = new DerivedStep(like, toTextAppend(artifactId, BLANK));
  const said = say(blank);
  if (!said || said.bare || (blank.taskWasRead && !said.steady)) return null;
  const [head, tail, more] = inOneLine(JSON.stringify(said.data)).split(JSON.stringify(BLANK));
  if (head === undefined || tail === undefined || more !== undefined) return null;
  return { artifactId, head, tail, event: said.event };
}

/** One event is one line: JSON has no raw line ends but U+2028 and U+2029, which some readers take for one. */
function inOneLine(json: string): string {
  return /[\u2028\u2029]/.test(json)
    ? json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : json;
}
