import type { LoopBudget } from "../../lib/loop-budget.ts";
import { LIMITS, type Seq, type Step, sizeOf, type Task, type TaskId } from "../../model/index.ts";

export interface PagesParts {
  /** To read and fold old events is work that can wait. */
  readonly loop: LoopBudget;
  /** Places of logs of which it is kept how the task stood there. */
  readonly placesMax: number;
}

/**
 * At most `max` steps after a place, read from where the log is kept. `base`: the task as it stood there; null: it is not
 * known, and the steps begin at the newest place before it from which they can be folded, if need be at the first event.
 */
export type ReadSteps = (
  after: Seq,
  max: number,
  base: Task | null,
) => readonly Step[] | Promise<readonly Step[]>;

interface Place {
  readonly seq: Seq;
  readonly task: Task;
}
interface KeptPage {
  readonly taskId: TaskId;
  readonly steps: readonly Step[];
  readonly bytes: number;
}

const NONE: readonly Step[] = Object.freeze([]);
const later = <One extends { readonly seq: Seq }>(one: One | null, other: One | null): One | null =>
  (other?.seq ?? 0) > (one?.seq ?? 0) ? other : one;

/** Steps that are read at once on the way to a place. */
const WAY_MAX = 1_024;
/** To read, unpack and fold an event costs as much as to hand on so many. */
const READ_UNITS = 2;
/** Roughly what a step weighs beside its event, with what dialects make of it. */
const STEP_BYTES = 1_000;

/**
 * Old parts of logs, page by page. Pages are kept for a while: readers at the same place share their steps, and so what
 * dialects made of them. Where a page ended, the task as it stood there is kept, so that the next one need not be folded
 * from the beginning. The way to a place far from any known one is gone in small parts, in turns.
 */
export function createPages({ loop, placesMax }: PagesParts) {
  const places = new Map<TaskId, Map<Seq, Task>>();
  let placesCount = 0;
  const pages = new Map<string, KeptPage>();
  let bytes = 0;

  function nearest(taskId: TaskId, after: Seq): Place | null {
    let best: Place | null = null;
    for (const [seq, task] of places.get(taskId) ?? [])
      if (seq <= after && seq > (best?.seq ?? 0)) best = { seq, task };
    return best;
  }

  function remember(taskId: TaskId, { seq, task }: Step): void {
    const known = places.get(taskId) ?? new Map<Seq, Task>();
    // The logs that are read now are at the end.
    places.delete(taskId);
    places.set(taskId, known);
    if (!known.has(seq)) placesCount += 1;
    known.set(seq, task);
    if (placesCount > placesMax) forgetOldestPlace();
  }

  function forgetOldestPlace(): void {
    const [taskId, known] = places.entries().next().value as [TaskId, Map<Seq, Task>];
    known.delete(known.keys().next().value as Seq);
    placesCount -= 1;
    if (known.size === 0) places.delete(taskId);
  }

  const find = (taskId: TaskId, start: Seq): readonly Step[] | undefined => {
    const key = `${taskId}/${start}`;
    const page = pages.get(key);
    if (!page) return undefined;
    pages.delete(key);
    pages.set(key, page);
    return page.steps;
  };

  function keep(taskId: TaskId, start: Seq, steps: readonly Step[]): void {
    let weight = 0;
    for (const { event } of steps) weight += STEP_BYTES + sizeOf(event);
    drop(`${taskId}/${start}`);
    pages.set(`${taskId}/${start}`, { taskId, steps, bytes: weight });
    bytes += weight;
    while (bytes > LIMITS.logPagesBytesMax) drop(pages.keys().next().value as string);
  }

  function drop(key: string): void {
    bytes -= pages.get(key)?.bytes ?? 0;
    pages.delete(key);
  }

  /** The page that begins after `start`, as far as it goes: at least beyond `after`, or empty. */
  async function readPage(taskId: TaskId, start: Seq, after: Seq, read: ReadSteps): Promise<readonly Step[]> {
    const end = start + LIMITS.readMax;
    let base: Step | Place | null = null;
    for (let isPaid = false; ; ) {
      const there = find(taskId, start) ?? NONE;
      const known = there.at(-1);
      if (known && known.seq > after) return there;
      const turn: Promise<void> | undefined = isPaid ? undefined : loop.take(READ_UNITS * LIMITS.readMax);
      isPaid = true;
      if (turn) {
        // Another reader may have read it by then.
        await turn;
        continue;
      }
      base = later(later(base, nearest(taskId, after)), known ?? null);
      const max: number = base && base.seq >= start ? end - base.seq : WAY_MAX;
      const steps: readonly Step[] = await read(base?.seq ?? after, max, base?.task ?? null);
      const last = steps.at(-1);
      if (!last) return NONE;
      remember(taskId, last);
      base = last;
      isPaid = false;
      if (last.seq <= after) continue;
      // The log was compacted: there is one step, and it may be anywhere.
      if (last.event === null) return steps;
      const page = steps.filter(({ seq }) => seq > start && seq <= end);
      const whole = page[0]?.seq === (known?.seq ?? start) + 1 ? [...there, ...page] : page;
      if (whole[0]?.seq === start + 1) keep(taskId, start, whole);
      return page;
    }
  }

  return {
    /** Pages begin at the same places for all readers; one who comes in between gets the rest of a page first. */
    async read(taskId: TaskId, after: Seq, max: number, read: ReadSteps): Promise<readonly Step[]> {
      const start = (after - (after % LIMITS.readMax)) as Seq;
      const page = await readPage(taskId, start, after, read);
      const from = page.findIndex(step => step.seq > after);
      return from === 0 && page.length <= max ? page : page.slice(from, from + max);
    },
    forget(taskId: TaskId): void {
      placesCount -= places.get(taskId)?.size ?? 0;
      places.delete(taskId);
      for (const [key, page] of pages) if (page.taskId === taskId) drop(key);
    },
  };
}
