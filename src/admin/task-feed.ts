/** The stream of tasks that changed. */
import type { Latch } from "../lib/latch.ts";
import type { TaskId } from "../model/index.ts";
import { matchesOwner, type OwnedTask, type TaskChanges, type TaskOverview } from "../ports/index.ts";
import { type StreamSource, toEvent } from "./event-stream.ts";
import { findTasks, toPick, toScan, toTaskTest } from "./find-tasks.ts";
import type { TaskFilter } from "./parameters.ts";
import { toTaskRow } from "./task-row.ts";

export interface TaskFeedParts {
  readonly overview: TaskOverview;
  readonly changes: TaskChanges;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

/** Changes of a task within this time are one event. */
const COLLECT_MS = 250;
/** Tasks of one write; more wait for the next one. */
const ROWS_MAX = 100;
/** Changed tasks that wait to be written: if there are more, the reader has to read the list again. */
const PENDING_MAX = 2_000;
/** Tasks that are looked at if notifications may have been lost. */
const RECENT = 50;

export function openTaskFeed(parts: TaskFeedParts, filter: TaskFilter, latch: Latch): StreamSource {
  const { overview, changes, ticks } = parts;
  const pending = new Set<TaskId>();
  const isWanted = toTaskTest(filter);
  /** The newest event that was sent of a recent task. */
  const sent = new Map<TaskId, number>();
  let isReady = false;
  let mustReload = false;
  let mustPoll = false;
  let timer: NodeJS.Timeout | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const stop = changes.subscribe(taskId => {
    if (taskId === undefined) mustPoll = true;
    else if (pending.size < PENDING_MAX) pending.add(taskId);
    else mustReload = true;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        latch.wake();
      },
      Math.max(0, COLLECT_MS - (ticks() - readAt)),
    ).unref();
  });

  function matches(one: OwnedTask): boolean {
    const { task, scope } = one;
    const { states, contextId, from, to, owners } = filter;
    return (
      matchesOwner(owners, scope, task.agent) &&
      (filter.replies || !toTaskRow(one).isReply) &&
      (!states || states.has(task.status.state)) &&
      (contextId === undefined || contextId === task.contextId) &&
      (from === undefined || task.createdAt >= from) &&
      (to === undefined || task.createdAt < to) &&
      (isWanted?.(one) ?? true)
    );
  }

  function toText(one: OwnedTask): string {
    sent.delete(one.task.id);
    sent.set(one.task.id, one.seq);
    if (sent.size > PENDING_MAX) sent.delete(sent.keys().next().value as TaskId);
    return toEvent(toTaskRow(one), { event: "task" });
  }

  /** Of the tasks that this reader was sent, those that no longer match are sent too: their rows have changed. */
  async function readPending(): Promise<string> {
    const ids = [...pending].slice(0, ROWS_MAX);
    const { tasks, used } = await overview.read(ids);
    const looked = ids.slice(0, used);
    for (const id of looked) pending.delete(id);
    const found = new Set(tasks.map(one => one.task.id));
    const gone = looked.filter(id => !found.has(id) && sent.delete(id));
    return [
      ...tasks.filter(one => matches(one) || sent.has(one.task.id)).map(toText),
      ...gone.map(id => toEvent({ id }, { event: "gone" })),
    ].join("");
  }

  /** A notification of another node may have been lost. */
  async function readRecent(): Promise<string> {
    mustPoll = false;
    const page = { size: RECENT, after: undefined };
    const { tasks } = await findTasks(overview, toScan(filter), page, toPick(isWanted));
    return tasks
      .filter(one => (sent.has(one.task.id) ? sent.get(one.task.id) !== one.seq : true))
      .map(toText)
      .join("");
  }

  return {
    async read() {
      if (!isReady) {
        isReady = true;
        return toEvent({}, { event: "ready" });
      }
      if (timer) return "";
      readAt = ticks();
      if (mustReload) {
        mustReload = false;
        pending.clear();
        return toEvent({}, { event: "reload" });
      }
      if (pending.size > 0) {
        const text = await readPending();
        if (pending.size > 0 || mustPoll) latch.wake();
        return text;
      }
      return mustPoll ? readRecent() : "";
    },
    close() {
      stop();
      clearTimeout(timer);
    },
  };
}
