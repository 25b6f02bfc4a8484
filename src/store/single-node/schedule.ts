import { LIMITS, type TaskId } from "../../model/index.ts";
import type { PushJournal, PushPlace } from "./backend.ts";

/** A push config that may still have something to deliver. */
export interface Live extends PushPlace {
  /** Up to here there is nothing to deliver; it may be ahead of what is on record. */
  place: number;
  /** In ticks. Of one that waits: until when. Of one that is held: whether it will wait. */
  dueAt: number | undefined;
  state: "idle" | "ready" | "waiting" | "held" | "gone";
  /** Something happened to the task while it was held. */
  rung: boolean;
}

/**
 * Which configs are due. Those that wait for their time are the only ones that can be many without end, as webhooks may be
 * dead: beyond a number they are left to the journal, and read again when there is room.
 */
export function createSchedule(parts: {
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** Times in the journal are in it. */
  readonly wallTime: () => number;
  readonly onDue: () => void;
  readonly readWaiting: PushJournal["waiting"];
  /** Of those that wait, in memory. */
  readonly waitingMax: number;
}) {
  const { waitingMax } = parts;
  const byTask = new Map<TaskId, Live[]>();
  const ready = new Map<string, Set<Live>>();
  /** The soonest last. */
  const waiting: Live[] = [];
  let readyCount = 0;
  /** Some that wait are in the journal only; at the start nobody knows. */
  let isSpilled = true;
  /** When the journal was asked for them last. */
  let recalledAt = Number.NEGATIVE_INFINITY;

  const find = (taskId: TaskId, id: string): Live | undefined =>
    byTask.get(taskId)?.find(one => one.id === id);

  function add(one: PushPlace): Live {
    const live: Live = { ...one, dueAt: undefined, state: "idle", rung: false };
    const others = byTask.get(one.taskId);
    if (others) others.push(live);
    else byTask.set(one.taskId, [live]);
    return live;
  }

  function makeReady(live: Live): void {
    live.state = "ready";
    live.rung = false;
    live.dueAt = undefined;
    readyCount += 1;
    const others = ready.get(live.host);
    if (others) others.add(live);
    else ready.set(live.host, new Set([live]));
    parts.onDue();
  }

  function makeWait(live: Live, dueAt: number): void {
    live.state = "waiting";
    live.dueAt = dueAt;
    waiting.splice(placeOf(waiting, dueAt), 0, live);
    if (waiting.length > waitingMax) {
      // The one that waits longest: those in memory are always the first that are due.
      forget(waiting[0] as Live);
      isSpilled = true;
    }
    parts.onDue();
  }

  function forget(live: Live): void {
    unline(live);
    live.state = "gone";
    const others = (byTask.get(live.taskId) ?? []).filter(one => one !== live);
    if (others.length > 0) byTask.set(live.taskId, others);
    else byTask.delete(live.taskId);
  }

  /** Takes it out of the line in which it stands. */
  function unline(live: Live): void {
    const others = ready.get(live.host);
    if (live.state === "ready" && others?.delete(live)) readyCount -= 1;
    if (others?.size === 0) ready.delete(live.host);
    const at = live.state === "waiting" ? waiting.indexOf(live) : -1;
    if (at !== -1) waiting.splice(at, 1);
  }

  /** Those whose time has come. */
  function wake(): void {
    const now = parts.ticks();
    if (now >= recallAt()) recall(now);
    for (let last = waiting.at(-1); last && (last.dueAt as number) <= now; last = waiting.at(-1)) {
      waiting.pop();
      makeReady(last);
    }
  }

  /** When to ask the journal for those that are there only: soon, if there is room for them. */
  function recallAt(): number {
    if (!isSpilled) return Number.POSITIVE_INFINITY;
    const hasRoom = waiting.length + readyCount < waitingMax / 2;
    return recalledAt + (hasRoom ? LIMITS.pushesRecallMs : LIMITS.pushesLookMs);
  }

  function recall(now: number): void {
    const found = parts.readWaiting(waitingMax);
    isSpilled = found.length === waitingMax;
    recalledAt = now;
    for (const { nextAt, plannedMs, ...one } of found)
      if (!find(one.taskId, one.id)) makeWait(add(one), dueAtOf(nextAt, plannedMs));
  }

  /** `plannedMs`: the longest that it waits. */
  function dueAtOf(nextAt: number, plannedMs: number): number {
    return parts.ticks() + Math.min(nextAt - parts.wallTime(), plannedMs);
  }

  return {
    find,
    dueAtOf,
    /** It is there, and one should look whether it has something to deliver. */
    enter: (one: PushPlace): void => makeReady(add(one)),
    /** It has nothing to deliver until something happens. */
    enterIdle: (one: PushPlace): void => void add(one),
    leave: forget,
    /** Something happened to the task. */
    moved(taskId: TaskId): void {
      const lives = byTask.get(taskId);
      if (!lives) return;
      for (const live of lives)
        if (live.state === "idle") makeReady(live);
        else if (live.state === "held") live.rung = true;
    },
    /** Whatever it waits for, it is due. */
    hurry(live: Live): void {
      live.rung = true;
      live.dueAt = undefined;
      if (live.state === "held") return;
      unline(live);
      makeReady(live);
    },
    /** One for each host, in turn. */
    take(busy: ReadonlySet<string>, max: number): readonly Live[] {
      wake();
      const taken: Live[] = [];
      for (const [host, lives] of ready) {
        if (taken.length >= max) break;
        if (busy.has(host)) continue;
        const [live] = lives;
        if (!live) continue;
        unline(live);
        live.state = "held";
        taken.push(live);
      }
      // Whoever had a turn goes to the end of the line.
      for (const { host } of taken) {
        const others = ready.get(host);
        if (others && ready.delete(host)) ready.set(host, others);
      }
      return taken;
    },
    free(live: Live): void {
      if (live.state !== "held") return;
      if (live.dueAt !== undefined) makeWait(live, live.dueAt);
      else if (live.rung) makeReady(live);
      else live.state = "idle";
    },
    isHeld: (taskId: TaskId): boolean => byTask.get(taskId)?.some(one => one.state === "held") ?? false,
    of: (taskId: TaskId): readonly Live[] => byTask.get(taskId) ?? [],
    /** How long until the next one is due by its time. */
    nextInMs(): number | undefined {
      const soonest = Math.min(waiting.at(-1)?.dueAt ?? Number.POSITIVE_INFINITY, recallAt());
      return soonest === Number.POSITIVE_INFINITY ? undefined : Math.max(0, soonest - parts.ticks());
    },
  };
}

export type Schedule = ReturnType<typeof createSchedule>;

/** Where one that is due then stands in a list whose soonest are last. */
function placeOf(waiting: readonly Live[], dueAt: number): number {
  let low = 0;
  let high = waiting.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((waiting[middle]?.dueAt as number) > dueAt) low = middle + 1;
    else high = middle;
  }
  return low;
}
