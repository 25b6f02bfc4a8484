import { FirstBatchThen, ForwardingSource } from "../lib/batch-source.ts";
import type { Wakeable } from "../lib/latch.ts";
import {
  applyView,
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type TaskId,
  type View,
} from "../model/index.ts";
import type { StepBatch, StepStream } from "../ports/index.ts";
import { isFinal, LogReader } from "./log-reader.ts";
import { findAgent, type OperationOf, type OperationParts, requireStreaming } from "./lookup.ts";
import { type RecordedMessage, recordMessage, recordShown } from "./record-message.ts";
import { isShownAtOnce } from "./send.ts";

/**
 * Records the message and reads on. v1 §3.1.2: a stream is either exactly one message, or the task first and then its
 * updates. Which of the two is known at the agent's first event, so the first frame waits for it, up to a timeout.
 */
export async function stream(
  parts: OperationParts,
  operation: OperationOf<"stream">,
  scope: Scope,
): Promise<StepStream> {
  const agent = findAgent(parts, operation, scope);
  requireStreaming(parts, agent);
  const isShown = isShownAtOnce(agent, operation);
  const recorded = await recordMessage(parts, agent, operation.send, scope, isShown);
  const missed = recorded.repeated && (await readMissed(parts, operation, scope, recorded));
  if (missed) return missed;
  const { taskId } = recorded;
  const after = (recorded.seq - 1) as Seq;
  const reader = new LogReader(parts, { scope, taskId, after, until: operation.until });
  const timeoutMs = agent.replies === "message" ? Number.POSITIVE_INFINITY : parts.firstEventTimeoutMs;
  return new TaskFirst(parts, reader, { scope, taskId, timeoutMs, view: operation.view });
}

/** The events that a reader of an earlier stream of the same call has missed; null: it gets the stream as usual. */
async function readMissed(
  parts: OperationParts,
  operation: OperationOf<"stream">,
  scope: Scope,
  { taskId, seq }: RecordedMessage,
): Promise<StepStream | null> {
  const { from, until } = operation;
  const found = from !== undefined && from >= seq && (await parts.store.tasks.get(scope, taskId));
  if (!found || from > found.seq) return null;
  const [last] = await parts.store.log.read(scope, taskId, (from - 1) as Seq, 1);
  if (last?.seq === from && isFinal(last, until)) return new FirstBatchThen(null, null);
  return new LogReader(parts, { scope, taskId, after: from, until }, from < found.since);
}

interface Options {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly timeoutMs: number;
  readonly view: View;
}

/**
 * The first batch holds everything up to the agent's first event, with the task itself first; or the one message. All later
 * batches come from the reader unchanged.
 */
class TaskFirst extends ForwardingSource<StepBatch> {
  #first: FirstBatch | undefined;

  constructor(parts: OperationParts, reader: StepStream, options: Options) {
    super(reader);
    this.#first = new FirstBatch(parts, reader, options);
  }

  take(): Promise<StepBatch | null> {
    return this.#first ? this.#takeFirst(this.#first) : this.inner.take();
  }

  async #takeFirst(first: FirstBatch): Promise<StepBatch | null> {
    const batch = await first.take();
    if (batch) this.#first = undefined;
    return batch;
  }

  override setListener(listener: Wakeable): void {
    this.#first?.setListener(listener);
    super.setListener(listener);
  }

  override close(): void {
    this.#first?.close();
    this.#first = undefined;
    super.close();
  }
}

class FirstBatch {
  readonly #parts: OperationParts;
  readonly #reader: StepStream;
  readonly #options: Options;
  readonly #steps: Step[] = [];
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly error: unknown } | undefined;
  #listener: Wakeable | undefined;

  constructor(parts: OperationParts, reader: StepStream, options: Options) {
    this.#parts = parts;
    this.#reader = reader;
    this.#options = options;
  }

  setListener(listener: Wakeable): void {
    this.#listener = listener;
  }

  async take(): Promise<StepBatch | null> {
    if (this.#failure) throw this.#failure.error;
    for (let batch = await this.#reader.take(); batch; batch = await this.#reader.take()) {
      this.#steps.push(...batch.steps);
      const last = this.#steps.at(-1) as Step;
      if (!last.task.reply && !last.task.shown) continue;
      this.close();
      if (!last.task.reply) return { steps: this.#withSnapshot(), closing: batch.closing };
      this.#reader.close();
      return { steps: [last], closing: true };
    }
    if (this.#steps.length > 0 && !this.#reader.isOver) this.#startTimer();
    return null;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #withSnapshot(): readonly Step[] {
    const [first, ...rest] = this.#steps as [Step, ...Step[]];
    return [snapshotOf(applyView(first.task, this.#options.view), first.seq, first.at), ...rest];
  }

  /** If the agent emits no event in time, the caller gets the task. */
  #startTimer(): void {
    const { scope, taskId, timeoutMs } = this.#options;
    if (this.#timer || timeoutMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => {
      recordShown(this.#parts, scope, taskId).catch(error => {
        this.#failure = { error };
        this.#listener?.wake();
      });
    }, timeoutMs);
  }
}
