import type { LoopBudget } from "../../lib/loop-budget.ts";
import { LIMITS, type Seq, type Step, sizeOf, type Task, type TaskId } from "../../model/index.ts";

export interface PageCacheParts {
  /** Reading and applying old events is work that can wait. */
  readonly loop: LoopBudget;
  readonly checkpointsMax: number;
}

/**
 * Reads at most `max` steps after `after` from the disk or the database. `base`: the task at that position; null: it is not
 * known, and the steps begin at the newest earlier position from which they can be applied, possibly the first event.
 */
export type ReadSteps = (
  after: Seq,
  max: number,
  base: Task | null,
) => readonly Step[] | Promise<readonly Step[]>;

/** The task after an event, from which later events can be applied. */
interface TaskCheckpoint {
  readonly seq: Seq;
  readonly task: Task;
}
interface CachedPage {
  readonly taskId: TaskId;
  readonly steps: readonly Step[];
  readonly bytes: number;
}

const NO_STEPS: readonly Step[] = Object.freeze([]);
const later = <One extends { readonly seq: Seq }>(one: One | null, other: One | null): One | null =>
  (other?.seq ?? 0) > (one?.seq ?? 0) ? other : one;

/** Steps read at once on the way from a checkpoint to the requested page. */
const SKIP_MAX = 1_024;
/** Reading, unpacking and applying an event costs as much as sending this many events. */
const READ_UNITS = 2;
/** Approximate memory of a step beside its event, including what protocols cache on it. */
const STEP_BYTES = 1_000;

/**
 * Old parts of logs, in pages. A page is cached for a while: readers at the same position share its steps, and so what
 * protocols encoded from them. The task at the end of each page is kept as a checkpoint for the next page. Positions far
 * from any checkpoint are reached in small reads that other work can interrupt.
 */
export function createPageCache({ loop, checkpointsMax }: PageCacheParts) {
  const checkpoints = new Map<TaskId, Map<Seq, Task>>();
  let checkpointsCount = 0;
  const pages = new Map<string, CachedPage>();
  let bytes = 0;

  function findCheckpoint(taskId: TaskId, after: Seq): TaskCheckpoint | null {
    let best: TaskCheckpoint | null = null;
    for (const [seq, task] of checkpoints.get(taskId) ?? [])
      if (seq <= after && seq > (best?.seq ?? 0)) best = { seq, task };
    return best;
  }

  function addCheckpoint(taskId: TaskId, { seq, task }: Step): void {
    const ofTask = checkpoints.get(taskId) ?? new Map<Seq, Task>();
    // The most recently read logs are last.
    checkpoints.delete(taskId);
    checkpoints.set(taskId, ofTask);
    if (!ofTask.has(seq)) checkpointsCount += 1;
    ofTask.set(seq, task);
    if (checkpointsCount <= checkpointsMax) return;
    const [oldestId, oldest] = checkpoints.entries().next().value as [TaskId, Map<Seq, Task>];
    oldest.delete(oldest.keys().next().value as Seq);
    checkpointsCount -= 1;
    if (oldest.size === 0) checkpoints.delete(oldestId);
  }

  function findPage(taskId: TaskId, start: Seq): readonly Step[] {
    const key = `${taskId}/${start}`;
    const page = pages.get(key);
    if (!page) return NO_STEPS;
    pages.delete(key);
    pages.set(key, page);
    return page.steps;
  }

  function addPage(taskId: TaskId, start: Seq, steps: readonly Step[]): void {
    let size = 0;
    for (const { event } of steps) size += STEP_BYTES + sizeOf(event);
    removePage(`${taskId}/${start}`);
    pages.set(`${taskId}/${start}`, { taskId, steps, bytes: size });
    bytes += size;
    while (bytes > LIMITS.logPagesBytesMax) removePage(pages.keys().next().value as string);
  }

  function removePage(key: string): void {
    bytes -= pages.get(key)?.bytes ?? 0;
    pages.delete(key);
  }

  /** The page that begins after `start`, as far as it exists: at least to beyond `after`, or empty. */
  async function readPage(taskId: TaskId, start: Seq, after: Seq, read: ReadSteps): Promise<readonly Step[]> {
    const end = start + LIMITS.readMax;
    let base: Step | TaskCheckpoint | null = null;
    for (let hasBudget = false; ; ) {
      const cached = findPage(taskId, start);
      const known = cached.at(-1);
      if (known && known.seq > after) return cached;
      const turn: Promise<void> | undefined = hasBudget ? undefined : loop.take(READ_UNITS * LIMITS.readMax);
      hasBudget = true;
      if (turn) {
        // Another reader may have read the page by then.
        await turn;
        continue;
      }
      base = later(later(base, findCheckpoint(taskId, after)), known ?? null);
      const max: number = base && base.seq >= start ? end - base.seq : SKIP_MAX;
      const steps: readonly Step[] = await read(base?.seq ?? after, max, base?.task ?? null);
      const last = steps.at(-1);
      if (!last) return NO_STEPS;
      addCheckpoint(taskId, last);
      base = last;
      hasBudget = false;
      if (last.seq <= after) continue;
      // The log was compacted: its single step can be at any position.
      if (last.event === null) return steps;
      const page = steps.filter(({ seq }) => seq > start && seq <= end);
      const whole = page[0]?.seq === (known?.seq ?? start) + 1 ? [...cached, ...page] : page;
      if (whole[0]?.seq === start + 1) addPage(taskId, start, whole);
      return page;
    }
  }

  return {
    /** Pages begin at the same positions for all readers: a reader in between gets the rest of a page first. */
    async read(taskId: TaskId, after: Seq, max: number, read: ReadSteps): Promise<readonly Step[]> {
      const start = (after - (after % LIMITS.readMax)) as Seq;
      const page = await readPage(taskId, start, after, read);
      const from = page.findIndex(step => step.seq > after);
      return from === 0 && page.length <= max ? page : page.slice(from, from + max);
    },
    remove(taskId: TaskId): void {
      checkpointsCount -= checkpoints.get(taskId)?.size ?? 0;
      checkpoints.delete(taskId);
      for (const [key, page] of pages) if (page.taskId === taskId) removePage(key);
    },
  };
}
