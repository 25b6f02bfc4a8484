import { Fault, hostOf, LIMITS, type Scope, type Seq, type TaskId, taskNotFound } from "../../model/index.ts";
import type { NewPushSubscription, PushConfigs, PushQueue, PushSubscription } from "../../ports/index.ts";
import { plannedMs } from "../kernel/planned-delay.ts";
import type { Journal, PushPlace } from "./backend.ts";
import type { Entry } from "./entry.ts";
import { createSchedule, type Live } from "./schedule.ts";
import type { Cache } from "./tail-cache.ts";
import type { Writer } from "./writer.ts";

export interface PushParts {
  readonly journal: Journal;
  readonly writer: Writer;
  readonly cache: Cache;
  readonly wallTime: () => number;
  readonly ticks: () => number;
  /** There may be something to deliver. */
  readonly onDue: () => void;
  readonly onDamaged: (taskId: TaskId, error: unknown) => void;
}

/** Push configs: the journal has them and how far each has come; which of them are due is in memory. */
export function createPushes(parts: PushParts) {
  const { journal, writer, cache } = parts;
  const schedule = createSchedule({
    wallTime: parts.wallTime,
    ticks: parts.ticks,
    onDue: parts.onDue,
    readWaiting: journal.pushes.waiting,
    waitingMax: LIMITS.pushesWaitingMax,
  });
  /** The configs of a task as they were written last, committed or not, while they are being written or held. */
  const known = new Map<TaskId, readonly PushSubscription[]>();
  const writes = new Map<TaskId, number>();
  /** Who holds what. */
  const holders = new WeakMap<PushSubscription, Live>();
  for (const { behind, ...one } of journal.pushes.idle())
    if (behind) schedule.enter(one);
    else schedule.enterIdle(one);

  const deliveriesOf = (taskId: TaskId): readonly PushSubscription[] =>
    known.get(taskId) ?? journal.pushes.of(taskId);

  /** Nobody may need to know them any more. */
  function letGo(taskId: TaskId): void {
    if (!writes.has(taskId) && !schedule.isHeld(taskId)) known.delete(taskId);
  }

  function leave(live: Live): void {
    schedule.leave(live);
    letGo(live.taskId);
  }

  function write(taskId: TaskId, id: string, delivery: PushSubscription | null): Promise<void> {
    const before = deliveriesOf(taskId);
    const at = before.findIndex(one => one.config.id === id);
    const others = before.filter((_, i) => i !== at);
    const after = delivery ? (at === -1 ? [...before, delivery] : before.with(at, delivery)) : others;
    known.set(taskId, after);
    writes.set(taskId, (writes.get(taskId) ?? 0) + 1);
    const done = writer.push({ taskId, id, delivery });
    const settle = (): void => {
      const left = (writes.get(taskId) ?? 1) - 1;
      if (left > 0) writes.set(taskId, left);
      else writes.delete(taskId);
      letGo(taskId);
    };
    done.then(settle, () => {
      // What was to be written did not happen.
      known.delete(taskId);
      settle();
    });
    return done;
  }

  function find(scope: Scope, taskId: TaskId): Entry {
    const entry = cache.find(scope, taskId);
    if (!entry?.visible) throw taskNotFound(taskId);
    return entry;
  }

  /** `after`: where the log ended before what is recorded with it. */
  function put(entry: Entry, push: NewPushSubscription, after: number): Promise<void> {
    const { taskId } = entry;
    const old = deliveriesOf(taskId).find(one => one.config.id === push.config.id);
    const goesOn = old?.config.url === push.config.url;
    const delivery = goesOn ? continued(old, push) : begun(entry, push, after, parts.wallTime());
    const done = write(taskId, push.config.id, delivery);
    done.then(
      () => enter(delivery, goesOn),
      () => {},
    );
    return done;
  }

  /** From now on it is due. */
  function enter(delivery: PushSubscription, goesOn: boolean): void {
    const live = schedule.find(delivery.taskId, delivery.config.id);
    if (live && goesOn) return schedule.hurry(live);
    if (live) leave(live);
    if (delivery.state === "live") schedule.enter(toLive(delivery));
  }

  function hold(live: Live): readonly PushSubscription[] {
    const found = tryFind(live);
    if (found?.state !== "live") {
      leave(live);
      return [];
    }
    known.set(live.taskId, deliveriesOf(live.taskId));
    const delivery = { ...found, cursor: Math.max(found.cursor, live.place) as Seq };
    holders.set(delivery, live);
    return [delivery];
  }

  /** One that cannot be read must not stop the others. */
  function tryFind({ taskId, id }: Live): PushSubscription | undefined {
    try {
      return deliveriesOf(taskId).find(one => one.config.id === id);
    } catch (error) {
      parts.onDamaged(taskId, error);
      return undefined;
    }
  }

  const pushes: PushConfigs = {
    async set(scope, taskId, push) {
      const entry = find(scope, taskId);
      check(taskId, push);
      await put(entry, push, entry.seq);
    },
    async list(scope, taskId) {
      find(scope, taskId);
      return journal.pushes.of(taskId).map(one => one.config);
    },
    async remove(scope, taskId, id) {
      find(scope, taskId);
      await remove(taskId, id);
    },
  };

  function check(taskId: TaskId, { config }: NewPushSubscription): void {
    const others = deliveriesOf(taskId).filter(one => one.config.id !== config.id);
    if (others.length >= LIMITS.pushConfigsPerTaskMax)
      throw new Fault(
        "invalid-params",
        `A task has at most ${LIMITS.pushConfigsPerTaskMax} push configs; delete one, or give the id of one that is to be replaced`,
        { taskId },
      );
  }

  async function remove(taskId: TaskId, id: string): Promise<void> {
    if (!deliveriesOf(taskId).some(one => one.config.id === id)) return;
    await write(taskId, id, null);
    const live = schedule.find(taskId, id);
    if (live) leave(live);
  }

  const deliveries: PushQueue = {
    async claim(busy, max) {
      return schedule.take(busy, max).flatMap(hold);
    },
    async record(held, progress, attempt) {
      const live = holders.get(held);
      const now = deliveriesOf(held.taskId).find(one => one.config.id === held.config.id);
      if (live?.state !== "held" || !now) return null;
      const { until, failed, nextAt, ...rest } = now;
      const attempts = attempt ? [...now.attempts, attempt].slice(-LIMITS.pushAttemptsMax) : now.attempts;
      const next: PushSubscription = { ...rest, ...progress, attempts };
      await write(held.taskId, held.config.id, next).catch(error => {
        // What came of it is not known: it is looked at again.
        live.rung = true;
        throw error;
      });
      if (isGone(live)) return null;
      live.dueAt = next.nextAt && schedule.dueAtOf(next.nextAt, plannedMs(attempts.at(-1)));
      holders.set(next, live);
      return next;
    },
    async remove(held) {
      if (holders.get(held)?.state === "held") await remove(held.taskId, held.config.id);
    },
    async release(held, place, more) {
      const live = holders.get(held);
      if (live?.state !== "held") return;
      live.place = place;
      live.rung ||= more;
      if (held.state !== "live") return leave(live);
      schedule.free(live);
      letGo(held.taskId);
    },
    nextInMs: async () => schedule.nextInMs(),
    async look(taskId) {
      const since = parts.wallTime() - LIMITS.pushAttemptsMs;
      return journal.pushes
        .of(taskId)
        .map(one => ({ ...one, attempts: one.attempts.filter(({ at }) => at > since) }));
    },
    async redeliver(taskId, id, from) {
      const wanted = deliveriesOf(taskId).filter(one => id === undefined || one.config.id === id);
      await Promise.all(wanted.map(one => again(one, from)));
      return wanted.length;
    },
  };

  async function again(delivery: PushSubscription, from: "place" | "start"): Promise<void> {
    const { until, failed, nextAt, ...rest } = delivery;
    const rewound = from === "start" && { cursor: delivery.start };
    const next: PushSubscription = {
      ...rest,
      ...(from === "place" && until !== undefined && { until }),
      ...rewound,
      state: from === "place" && delivery.state === "done" ? "done" : "live",
    };
    await write(delivery.taskId, delivery.config.id, next);
    enter(next, from === "place");
  }

  return {
    pushes,
    deliveries,
    moved: schedule.moved,
    isHeld: schedule.isHeld,
    /** Refuses what would be one too many; before anything is recorded. */
    check,
    /** Sets one in the commit that is under way. `after`: where the log ended before the events of this commit. */
    put,
    /** The task was changed below what is in memory, or is gone. */
    forget(taskId: TaskId): void {
      const lives = schedule.of(taskId);
      known.delete(taskId);
      if (lives.length === 0) return;
      const left = new Set(journal.pushes.of(taskId).map(one => one.config.id));
      for (const live of lives) if (!left.has(live.id)) leave(live);
      schedule.moved(taskId);
    },
  };
}

/** It may have gone while one waited. */
const isGone = ({ state }: Live): boolean => state !== "held";

const toLive = ({ taskId, config, cursor: place }: PushSubscription): PushPlace => ({
  taskId,
  id: config.id,
  host: hostOf(config),
  place,
});

/** A new one: the first that it delivers is the newest event, said as the whole task, or what comes after a place. */
function begun(entry: Entry, push: NewPushSubscription, after: number, now: number): PushSubscription {
  const start = (push.opening === "task" ? entry.seq - 1 : after) as Seq;
  const { taskId, scope } = entry;
  return { ...push, scope, taskId, setAt: now, start, cursor: start, state: "live", attempts: [] };
}

/** To the same URL: what was not delivered yet is due at once, as the new one says it. */
function continued(old: PushSubscription, { config }: NewPushSubscription): PushSubscription {
  const { failed, nextAt, ...rest } = old;
  return { ...rest, config, state: old.state === "done" ? "done" : "live" };
}
