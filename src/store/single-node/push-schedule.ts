import { LIMITS, type TaskId } from "../../model/index.ts";
import type { PushBackend, PushCursor } from "./backend.ts";

/** A push config that may still have events to deliver. */
export interface ScheduledPush extends PushCursor {
  /** Events up to this one need no delivery; may be ahead of the stored cursor. */
  cursor: number;
  /** In ticks. If waiting: the time of the retry. If claimed: the time of the retry after the claim ends, if any. */
  dueAt: number | undefined;
  state: "idle" | "ready" | "waiting" | "claimed" | "removed";
  /** The task changed while the config was claimed. */
  hasChanged: boolean;
}

/**
 * Which push configs are due. Only those that wait for a retry can grow without limit, because webhooks can be down: beyond
 * `waitingMax` they are in the backend only, and are loaded when there is room.
 */
export function createPushSchedule(parts: {
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** The clock of stored times. */
  readonly wallTime: () => number;
  readonly onDue: () => void;
  readonly readWaiting: PushBackend["waiting"];
  /** The maximum number of waiting configs in memory. */
  readonly waitingMax: number;
}) {
  const { waitingMax } = parts;
  const byTask = new Map<TaskId, ScheduledPush[]>();
  const ready = new Map<string, Set<ScheduledPush>>();
  /** Sorted, the soonest last. */
  const waiting: ScheduledPush[] = [];
  let readyCount = 0;
  /** Some waiting configs may be in the backend only, as at the start. */
  let hasMoreStored = true;
  let loadedAt = Number.NEGATIVE_INFINITY;

  const find = (taskId: TaskId, id: string): ScheduledPush | undefined =>
    byTask.get(taskId)?.find(one => one.id === id);

  function add(one: PushCursor): ScheduledPush {
    const push: ScheduledPush = { ...one, dueAt: undefined, state: "idle", hasChanged: false };
    const others = byTask.get(one.taskId);
    if (others) others.push(push);
    else byTask.set(one.taskId, [push]);
    return push;
  }

  function makeReady(push: ScheduledPush): void {
    push.state = "ready";
    push.hasChanged = false;
    push.dueAt = undefined;
    readyCount += 1;
    const others = ready.get(push.host);
    if (others) others.add(push);
    else ready.set(push.host, new Set([push]));
    parts.onDue();
  }

  function makeWaiting(push: ScheduledPush, dueAt: number): void {
    push.state = "waiting";
    push.dueAt = dueAt;
    waiting.splice(findInsertIndex(waiting, dueAt), 0, push);
    if (waiting.length > waitingMax) {
      // Drop the last one due: the configs in memory are always the first that are due.
      remove(waiting[0] as ScheduledPush);
      hasMoreStored = true;
    }
    parts.onDue();
  }

  function remove(push: ScheduledPush): void {
    dequeue(push);
    push.state = "removed";
    const others = (byTask.get(push.taskId) ?? []).filter(one => one !== push);
    if (others.length > 0) byTask.set(push.taskId, others);
    else byTask.delete(push.taskId);
  }

  function dequeue(push: ScheduledPush): void {
    const others = ready.get(push.host);
    if (push.state === "ready" && others?.delete(push)) readyCount -= 1;
    if (others?.size === 0) ready.delete(push.host);
    const index = push.state === "waiting" ? waiting.indexOf(push) : -1;
    if (index !== -1) waiting.splice(index, 1);
  }

  function makeDueReady(): void {
    const now = parts.ticks();
    if (now >= nextLoadAt()) loadWaiting(now);
    for (let last = waiting.at(-1); last && (last.dueAt as number) <= now; last = waiting.at(-1)) {
      waiting.pop();
      makeReady(last);
    }
  }

  /** When to load waiting configs from the backend: soon, if there is room for them. */
  function nextLoadAt(): number {
    if (!hasMoreStored) return Number.POSITIVE_INFINITY;
    const hasRoom = waiting.length + readyCount < waitingMax / 2;
    return loadedAt + (hasRoom ? LIMITS.pushScanMs : LIMITS.pushScanFullMs);
  }

  function loadWaiting(now: number): void {
    const found = parts.readWaiting(waitingMax);
    hasMoreStored = found.length === waitingMax;
    loadedAt = now;
    for (const { nextAt, retryDelayMs, ...one } of found)
      if (!find(one.taskId, one.id)) makeWaiting(add(one), toDueAt(nextAt, retryDelayMs));
  }

  /** `delayMs`: the longest wait from now on. */
  function toDueAt(nextAt: number, delayMs: number): number {
    return parts.ticks() + Math.min(nextAt - parts.wallTime(), delayMs);
  }

  return {
    find,
    toDueAt,
    /** Adds a config that may have events to deliver. */
    addReady: (one: PushCursor): void => makeReady(add(one)),
    /** Adds a config without events to deliver. */
    addIdle: (one: PushCursor): void => void add(one),
    remove,
    onTaskChanged(taskId: TaskId): void {
      const pushes = byTask.get(taskId);
      if (!pushes) return;
      for (const push of pushes)
        if (push.state === "idle") makeReady(push);
        else if (push.state === "claimed") push.hasChanged = true;
    },
    /** Makes a config due now, also if it waits for a retry. */
    expedite(push: ScheduledPush): void {
      push.hasChanged = true;
      push.dueAt = undefined;
      if (push.state === "claimed") return;
      dequeue(push);
      makeReady(push);
    },
    /** Claims one config per host, round robin. */
    claim(busy: ReadonlySet<string>, max: number): readonly ScheduledPush[] {
      makeDueReady();
      const claimed: ScheduledPush[] = [];
      for (const [host, pushes] of ready) {
        if (claimed.length >= max) break;
        if (busy.has(host)) continue;
        const [push] = pushes;
        if (!push) continue;
        dequeue(push);
        push.state = "claimed";
        claimed.push(push);
      }
      // The hosts of this claim go to the end.
      for (const { host } of claimed) {
        const others = ready.get(host);
        if (others && ready.delete(host)) ready.set(host, others);
      }
      return claimed;
    },
    release(push: ScheduledPush): void {
      if (push.state !== "claimed") return;
      if (push.dueAt !== undefined) makeWaiting(push, push.dueAt);
      else if (push.hasChanged) makeReady(push);
      else push.state = "idle";
    },
    hasClaimed: (taskId: TaskId): boolean =>
      byTask.get(taskId)?.some(one => one.state === "claimed") ?? false,
    list: (taskId: TaskId): readonly ScheduledPush[] => byTask.get(taskId) ?? [],
    /** How long until the next retry is due. */
    nextInMs(): number | undefined {
      const soonest = Math.min(waiting.at(-1)?.dueAt ?? Number.POSITIVE_INFINITY, nextLoadAt());
      return soonest === Number.POSITIVE_INFINITY ? undefined : Math.max(0, soonest - parts.ticks());
    },
  };
}

/** Binary search in a list whose soonest is last. */
function findInsertIndex(waiting: readonly ScheduledPush[], dueAt: number): number {
  let low = 0;
  let high = waiting.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((waiting[middle]?.dueAt as number) > dueAt) low = middle + 1;
    else high = middle;
  }
  return low;
}
