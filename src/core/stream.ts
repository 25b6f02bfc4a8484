import {
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type TaskId,
  type View,
  viewed,
} from "../model/index.ts";
import type { Lazy, Steps } from "../ports.ts";
import { type CoreParts, findAgent, type OperationOf, requireStreaming } from "./deps.ts";
import { type Placed, place } from "./place.ts";
import { isShownAtOnce } from "./send.ts";
import { show } from "./show.ts";
import { asCompacted, type Bunch, DONE, isEnough, tail } from "./tail.ts";

/**
 * Records the message and reads on. v1 §3.1.2: either exactly one message, or the task first and then what happens
 * to it. Which of the two is known at the agent's first word, so the first frame waits for it, but not for long.
 */
export async function stream(
  parts: CoreParts,
  operation: OperationOf<"stream">,
  scope: Scope,
  signal: Lazy<AbortSignal>,
): Promise<Steps> {
  const agent = findAgent(parts, operation, scope);
  requireStreaming(parts, agent);
  const placed = await place(parts, agent, operation.send, scope, isShownAtOnce(agent, operation));
  const missed = placed.repeated && (await readMissed(parts, operation, scope, placed, signal));
  if (missed) return missed;
  const { taskId } = placed;
  const after = (placed.seq - 1) as Seq;
  const steps = tail(parts, { scope, taskId, after, until: operation.until, signal });
  const waitMs = agent.replies === "message" ? Number.POSITIVE_INFINITY : parts.firstWordMs;
  return withTaskFirst(parts, scope, taskId, steps, { waitMs, view: operation.view });
}

/** What a reader of an earlier stream of the same call has not seen; null: all of it, so it gets the stream as usual. */
async function readMissed(
  parts: CoreParts,
  operation: OperationOf<"stream">,
  scope: Scope,
  { taskId, seq }: Placed,
  signal: Lazy<AbortSignal>,
): Promise<Steps | null> {
  const { from, until } = operation;
  const found = from !== undefined && from >= seq && (await parts.store.tasks.get(scope, taskId));
  if (!found || from > found.seq) return null;
  const [last] = await parts.store.log.read(scope, taskId, (from - 1) as Seq, 1);
  if (last?.seq === from && isEnough(last, until)) return nothing();
  const steps = tail(parts, { scope, taskId, after: from, until, signal });
  return from < found.since ? asCompacted(steps) : steps;
}

async function* nothing(): Steps {}

interface Showing {
  readonly waitMs: number;
  readonly view: View;
}

const withTaskFirst = (parts: CoreParts, scope: Scope, taskId: TaskId, steps: Steps, how: Showing): Steps => {
  const reader = steps[Symbol.asyncIterator]();
  return new TaskFirst(reader, () => readOpening(parts, scope, taskId, reader, how));
};

/** When the opening is said, there is nothing between the caller and its reader. */
class TaskFirst implements AsyncIterableIterator<Bunch, undefined> {
  readonly #reader: AsyncIterator<Bunch>;
  #readOpening: (() => Promise<Bunch | null>) | undefined;

  constructor(reader: AsyncIterator<Bunch>, readOpening: () => Promise<Bunch | null>) {
    this.#reader = reader;
    this.#readOpening = readOpening;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Bunch, undefined>> {
    const readOpening = this.#readOpening;
    if (!readOpening) return this.#reader.next();
    this.#readOpening = undefined;
    return this.#open(readOpening);
  }

  async #open(readOpening: () => Promise<Bunch | null>): Promise<IteratorResult<Bunch, undefined>> {
    let opening: Bunch | null = null;
    try {
      opening = await readOpening();
    } finally {
      if (!opening) await this.return();
    }
    return opening ? { value: opening, done: false } : DONE;
  }

  /** A reader that is not closed listens for ever. */
  async return(): Promise<IteratorResult<Bunch, undefined>> {
    this.#readOpening = undefined;
    await this.#reader.return?.();
    return DONE;
  }
}

/** Everything up to the agent's first word, the task itself first; or the one message. */
async function readOpening(
  parts: CoreParts,
  scope: Scope,
  taskId: TaskId,
  reader: AsyncIterator<Bunch>,
  how: Showing,
): Promise<Bunch | null> {
  const held: Step[] = [];
  for (;;) {
    const pending = reader.next();
    const soon = held.length === 0 ? await pending : await within(pending, how.waitMs);
    if (soon === "late") await show(parts, scope, taskId);
    const { value: bunch, done } = soon === "late" ? await pending : soon;
    if (done) return null;
    held.push(...bunch.steps);
    const last = held.at(-1) as Step;
    if (last.task.reply) return { steps: [last], closing: true };
    if (!last.task.shown) continue;
    const [first, ...rest] = held as [Step, ...Step[]];
    const snapshot = snapshotOf(viewed(first.task, how.view), first.seq, first.at);
    return { steps: [snapshot, ...rest], closing: bunch.closing };
  }
}

async function within<T>(pending: Promise<T>, waitMs: number): Promise<T | "late"> {
  if (waitMs === Number.POSITIVE_INFINITY) return pending;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">(resolve => (timer = setTimeout(() => resolve("late"), waitMs)));
  const first = await Promise.race([pending, late]);
  clearTimeout(timer);
  return first;
}
