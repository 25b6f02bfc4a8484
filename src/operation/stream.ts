import type { BatchSource } from "../lib/batch-source.ts";
import { FirstBatchThen } from "../lib/batch-source.ts";
import type { Wakeable } from "../lib/latch.ts";
import {
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type TaskId,
  type View,
  viewed,
} from "../model/index.ts";
import type { StepBatch, Steps } from "../ports/index.ts";
import { asCompacted, isEnough, tail } from "./log-reader.ts";
import { type CoreParts, findAgent, type OperationOf, requireStreaming } from "./lookup.ts";
import { type Placed, place } from "./record-message.ts";
import { isShownAtOnce } from "./send.ts";
import { show } from "./show.ts";

/**
 * Records the message and reads on. v1 §3.1.2: either exactly one message, or the task first and then what happens
 * to it. Which of the two is known at the agent's first word, so the first frame waits for it, but not for long.
 */
export async function stream(
  parts: CoreParts,
  operation: OperationOf<"stream">,
  scope: Scope,
): Promise<Steps> {
  const agent = findAgent(parts, operation, scope);
  requireStreaming(parts, agent);
  const placed = await place(parts, agent, operation.send, scope, isShownAtOnce(agent, operation));
  const missed = placed.repeated && (await readMissed(parts, operation, scope, placed));
  if (missed) return missed;
  const { taskId } = placed;
  const after = (placed.seq - 1) as Seq;
  const steps = tail(parts, { scope, taskId, after, until: operation.until });
  const waitMs = agent.replies === "message" ? Number.POSITIVE_INFINITY : parts.firstWordMs;
  return new TaskFirst(parts, steps, { scope, taskId, waitMs, view: operation.view });
}

/** What a reader of an earlier stream of the same call has not seen; null: all of it, so it gets the stream as usual. */
async function readMissed(
  parts: CoreParts,
  operation: OperationOf<"stream">,
  scope: Scope,
  { taskId, seq }: Placed,
): Promise<Steps | null> {
  const { from, until } = operation;
  const found = from !== undefined && from >= seq && (await parts.store.tasks.get(scope, taskId));
  if (!found || from > found.seq) return null;
  const [last] = await parts.store.log.read(scope, taskId, (from - 1) as Seq, 1);
  if (last?.seq === from && isEnough(last, until)) return new FirstBatchThen(null, null);
  const steps = tail(parts, { scope, taskId, after: from, until });
  return from < found.since ? asCompacted(steps) : steps;
}

interface Showing {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly waitMs: number;
  readonly view: View;
}

/**
 * Begins with everything up to the agent's first word, the task itself first; or with the one message. After that there
 * is nothing between the caller and its reader.
 */
class TaskFirst implements BatchSource<StepBatch> {
  readonly #reader: Steps;
  #opening: Opening | undefined;

  constructor(parts: CoreParts, reader: Steps, how: Showing) {
    this.#reader = reader;
    this.#opening = new Opening(parts, reader, how);
  }

  get isOver(): boolean {
    return this.#reader.isOver;
  }

  take(): Promise<StepBatch | null> {
    return this.#opening ? this.#open(this.#opening) : this.#reader.take();
  }

  async #open(opening: Opening): Promise<StepBatch | null> {
    const bunch = await opening.take();
    if (bunch) this.#opening = undefined;
    return bunch;
  }

  wakes(sleeper: Wakeable): void {
    this.#opening?.wakes(sleeper);
    this.#reader.wakes(sleeper);
  }

  close(): void {
    this.#opening?.close();
    this.#opening = undefined;
    this.#reader.close();
  }
}

class Opening {
  readonly #parts: CoreParts;
  readonly #reader: Steps;
  readonly #how: Showing;
  readonly #held: Step[] = [];
  #timer: NodeJS.Timeout | undefined;
  #broken: { readonly error: unknown } | undefined;
  #sleeper: Wakeable | undefined;

  constructor(parts: CoreParts, reader: Steps, how: Showing) {
    this.#parts = parts;
    this.#reader = reader;
    this.#how = how;
  }

  wakes(sleeper: Wakeable): void {
    this.#sleeper = sleeper;
  }

  async take(): Promise<StepBatch | null> {
    if (this.#broken) throw this.#broken.error;
    for (let bunch = await this.#reader.take(); bunch; bunch = await this.#reader.take()) {
      this.#held.push(...bunch.steps);
      const last = this.#held.at(-1) as Step;
      if (!last.task.reply && !last.task.shown) continue;
      this.close();
      if (!last.task.reply) return { steps: this.#shown(), closing: bunch.closing };
      this.#reader.close();
      return { steps: [last], closing: true };
    }
    if (this.#held.length > 0 && !this.#reader.isOver) this.#hurry();
    return null;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #shown(): readonly Step[] {
    const [first, ...rest] = this.#held as [Step, ...Step[]];
    return [snapshotOf(viewed(first.task, this.#how.view), first.seq, first.at), ...rest];
  }

  /** If the agent does not say anything soon, the caller gets the task. */
  #hurry(): void {
    const { scope, taskId, waitMs } = this.#how;
    if (this.#timer || waitMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => {
      show(this.#parts, scope, taskId).catch(error => {
        this.#broken = { error };
        this.#sleeper?.wake();
      });
    }, waitMs);
  }
}
