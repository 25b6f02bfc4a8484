import { ForwardingSource } from "../lib/batch-source.ts";
import {
  appendedTextJson,
  DerivedStep,
  type Fault,
  LIMITS,
  type Scope,
  type Seq,
  type Step,
  type TaskEvent,
  textAppendTarget,
  toTextAppend,
} from "../model/index.ts";
import type {
  BodyFormat,
  CallObserver,
  DataFrame,
  Dialect,
  EncodedFrame,
  EncodedStep,
  Frame,
  Release,
  ReplyContext,
  StepBatch,
  StepStream,
  StreamEncoder,
  WireBody,
  WireFault,
} from "../ports/index.ts";
import { JSON_FORMAT } from "./json-format.ts";

/** A call, its dialect and its observer. */
export interface CallContext {
  readonly call: ReplyContext;
  readonly dialect: Dialect;
  readonly observer: CallObserver | undefined;
}

export interface ReplyStreamParts {
  /** The dialect of a reply about a task that was created in the dialect `origin`. */
  replyDialect(dialect: Dialect, call: ReplyContext, origin: string | undefined): Dialect;
  /** The fault that ends the stream; the observer gets it as well. */
  toWireFault(context: CallContext, error: unknown): WireFault;
  /** Reserves memory for large frames, or throws a Fault. */
  hold(scope: Scope, bytes: number): Release;
}

export interface ReplyStreamOptions<Body extends WireBody> {
  /** null: each step is encoded by itself. */
  readonly encoder: StreamEncoder | null;
  /** See `Operation`. */
  readonly form: string | undefined;
  readonly format: BodyFormat<Body>;
  readonly scope: Scope;
}

/** The frames of one call: until the steps end, an error occurs, or the caller's credentials expire. */
export class ReplyStream<Body extends WireBody> extends ForwardingSource<StepBatch, readonly Frame<Body>[]> {
  readonly #parts: ReplyStreamParts;
  readonly #context: CallContext;
  readonly #options: ReplyStreamOptions<Body>;
  /** Of large frames, until the reader asks for more. */
  #release: Release | undefined;
  #encoder: BatchEncoder<Body> | undefined;
  #stopExpiry: (() => void) | undefined;
  #expired: Fault | undefined;
  #isOver = false;

  constructor(
    parts: ReplyStreamParts,
    context: CallContext,
    steps: StepStream,
    options: ReplyStreamOptions<Body>,
  ) {
    super(steps);
    this.#parts = parts;
    this.#context = context;
    this.#options = options;
  }

  override get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the stream with the fault that `onExpire` reports. */
  endOnExpiry(onExpire: (expire: (fault: Fault) => void) => () => void): void {
    this.#stopExpiry = onExpire(fault => {
      this.#expired = fault;
      this.inner.close();
    });
  }

  async take(): Promise<readonly Frame<Body>[] | null> {
    this.#releaseFrames();
    if (this.#isOver) return null;
    try {
      for (let batch = await this.inner.take(); batch; batch = await this.inner.take()) {
        const frames = this.#encode(batch);
        if (this.#options.encoder?.isOver) this.inner.close();
        if (frames.length === 0) continue;
        // The reader learns with the last frames that they are the last, and can end its response with them.
        if (this.inner.isOver && !this.#expired) this.#finish();
        return frames;
      }
      if (!this.inner.isOver) return null;
      if (this.#expired) throw this.#expired;
      this.close();
      return null;
    } catch (error) {
      const fault = this.#parts.toWireFault(this.#context, error);
      const { encoder } = this.#options;
      this.close();
      if (!encoder) return [{ fault }];
      const frames: DataFrame<Body>[] = [];
      pushFrames(frames, encoder.encodeFault(fault), undefined);
      return frames;
    }
  }

  override close(): void {
    this.#releaseFrames();
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.inner.close();
    this.#stopExpiry?.();
    this.#context.observer?.onEnd();
  }

  #encode(batch: StepBatch): readonly DataFrame<Body>[] {
    const { dialect, call, observer } = this.#context;
    const { encoder, form, format, scope } = this.#options;
    observer?.onSteps(batch.steps);
    this.#encoder ??= encoder
      ? new StatefulEncoder(encoder)
      : new FrameEncoder(this.#parts.replyDialect(dialect, call, batch.steps[0]?.task.origin), form, format);
    const frames = this.#encoder.encode(batch);
    let longest: WireBody = "";
    for (let i = 0; i < frames.length; i++) {
      const { data } = frames[i] as DataFrame<Body>;
      if (data.length > longest.length) longest = data;
    }
    // Frames are written one after the other, and small ones are joined to pieces of a bounded size.
    if (longest.length > LIMITS.chunkBytes)
      this.#release = this.#parts.hold(scope, Buffer.byteLength(longest));
    return frames;
  }

  #releaseFrames(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

interface BatchEncoder<Body extends WireBody> {
  encode(batch: StepBatch): readonly DataFrame<Body>[];
}

/** The frames of a dialect that has an encoder for each stream. The last frame of a step has its number as id. */
class StatefulEncoder<Body extends WireBody> implements BatchEncoder<Body> {
  readonly #encoder: StreamEncoder;

  constructor(encoder: StreamEncoder) {
    this.#encoder = encoder;
  }

  encode({ steps, closing }: StepBatch): readonly DataFrame<Body>[] {
    const frames: DataFrame<Body>[] = [];
    const encoder = this.#encoder;
    const { after } = encoder;
    for (let i = 0; i < steps.length && !encoder.isOver; i++) {
      const step = steps[i] as Step;
      const encoded = encoder.encode(step, closing && i === steps.length - 1);
      if (encoded.length > 0 && (after === undefined || step.seq > after))
        pushFrames(frames, encoded, step.seq);
    }
    return frames;
  }
}

/** Dialects with an encoder for each stream have JSON bindings only. */
function pushFrames<Body extends WireBody>(
  frames: DataFrame<Body>[],
  encoded: readonly EncodedFrame[],
  id: Seq | undefined,
): void {
  const last = encoded.length - 1;
  for (let i = 0; i <= last; i++) {
    const { event, data } = encoded[i] as EncodedFrame;
    frames.push({ id: i === last ? id : undefined, event, data: data as Body });
  }
}

/** The encodings of a step are cached with the step, so that many readers cost one encoding. */
interface MemoizedFrame {
  readonly dialect: Dialect;
  readonly format: BodyFormat;
  /** The form, and whether the stream ends: one member, because every step of every stream has such an object. */
  readonly variant: string;
  /** null: the dialect has no message for this step. */
  readonly frame: DataFrame<WireBody> | null;
  readonly next: MemoizedFrame | undefined;
}

/** The JSON of a step that appends text to an artifact: the head, the text, the tail, and the generation if it has one. */
interface ChunkTemplate {
  readonly artifactId: string;
  readonly head: string;
  readonly tail: string;
  /** The JSON after the generation; null: the frame has no generation. */
  readonly end: string | null;
  readonly event: string | undefined;
}

/** Encodes the steps of one task as frames, in one dialect, form and format. */
export class FrameEncoder<Body extends WireBody> implements BatchEncoder<Body> {
  readonly #dialect: Dialect;
  readonly #form: string | undefined;
  readonly #variant: string;
  readonly #format: BodyFormat<Body>;
  #template: ChunkTemplate | null = null;
  /** Of the last step that has one in its frame. */
  #generation = 0;
  #generationSeq = -1;
  #usesTemplate: boolean;

  constructor(dialect: Dialect, form: string | undefined, format: BodyFormat<Body>) {
    this.#dialect = dialect;
    this.#form = form;
    this.#variant = form ?? "";
    this.#format = format;
    this.#usesTemplate = (format as BodyFormat) === JSON_FORMAT;
  }

  encode({ steps, closing }: StepBatch): readonly DataFrame<Body>[] {
    const frames: DataFrame<Body>[] = [];
    for (let i = 0; i < steps.length; i++) {
      const frame = this.#encodeOnce(steps[i] as Step, closing && i === steps.length - 1);
      if (frame) frames.push(frame as DataFrame<Body>);
    }
    return frames;
  }

  #encodeOnce(step: Step, closing: boolean): DataFrame<WireBody> | null {
    const variant = closing ? `${this.#variant} closing` : this.#variant;
    const first = step.memo as MemoizedFrame | undefined;
    for (let known = first; known; known = known.next)
      if (known.variant === variant && known.dialect === this.#dialect && known.format === this.#format)
        return known.frame;
    const text = this.#usesTemplate && !closing ? appendedTextJson(step) : null;
    const frame = (text !== null && this.#fillTemplate(step, text)) || this.#encodeStep(step, closing);
    const encoded = { dialect: this.#dialect, format: this.#format, variant, frame, next: first };
    step.memo = encoded satisfies MemoizedFrame;
    return frame;
  }

  #encodeStep(step: Step, closing: boolean): DataFrame<Body> | null {
    const encoded = this.#dialect.encodeStep(step, closing, this.#form);
    if (!encoded) return null;
    return {
      id: step.seq,
      data: this.#format.encodeFrame(encoded.data),
      ...(encoded.event !== undefined && { event: encoded.event }),
      ...(encoded.bare && { bare: true }),
    };
  }

  /** Chunks of text differ in text and generation: the rest of their JSON is made once for each artifact. */
  #fillTemplate(step: Step, text: string): DataFrame | null {
    const artifactId = textAppendTarget(step.event as TaskEvent) as string;
    if (this.#template?.artifactId !== artifactId)
      this.#template = createTemplate(
        chunk => this.#dialect.encodeStep(chunk, false, this.#form),
        step,
        artifactId,
      );
    const template = this.#template;
    this.#usesTemplate = template !== null;
    if (!template) return null;
    const { head, tail, end, event } = template;
    const data = head + text + tail + (end === null ? "" : this.#countGeneration(step) + end);
    return event === undefined ? { id: step.seq, data } : { id: step.seq, event, data };
  }

  /** Each chunk of text is an update: the task is read only if other steps are between this one and the last. */
  #countGeneration(step: Step): number {
    const isNext = step.seq === this.#generationSeq + 1;
    this.#generation = isNext ? this.#generation + 1 : (step.task.generation as number);
    this.#generationSeq = step.seq;
    return this.#generation;
  }
}

/** Never in a text: control characters are removed from texts. */
const PLACEHOLDER = "\u0000text\u0000";
/** No task has so many updates. */
const GENERATION = Number.MAX_SAFE_INTEGER;

/** null: the frame depends on more than the text and the generation, or it has no envelope. */
function createTemplate(
  encode: (step: Step) => EncodedStep | null,
  like: Step,
  artifactId: string,
): ChunkTemplate | null {
  const sample = new DerivedStep(like, toTextAppend(artifactId, PLACEHOLDER), GENERATION);
  const encoded = encode(sample);
  if (!encoded || encoded.bare || (sample.taskWasRead && !encoded.stableTaskFields)) return null;
  const [head, rest, more] = JSON_FORMAT.encodeFrame(encoded.data).split(JSON.stringify(PLACEHOLDER));
  if (head === undefined || rest === undefined || more !== undefined) return null;
  const [tail = "", end = null, ...others] = rest.split(String(GENERATION));
  if (others.length > 0 || head.includes(String(GENERATION))) return null;
  return { artifactId, head, tail, end, event: encoded.event };
}
