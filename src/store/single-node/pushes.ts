import { Fault, hostOf, LIMITS, type Scope, type Seq, type TaskId, taskNotFound } from "../../model/index.ts";
import type { NewPushSubscription, PushConfigs, PushQueue, PushSubscription } from "../../ports/index.ts";
import { type Backend, retryDelayMs } from "./backend.ts";
import { createPushSchedule, type ScheduledPush } from "./push-schedule.ts";
import type { TailCache } from "./tail-cache.ts";
import type { TaskEntry } from "./task-entry.ts";
import type { BatchWriter } from "./writer.ts";

export interface PushStoreParts {
  readonly backend: Backend;
  readonly writer: BatchWriter;
  readonly cache: TailCache;
  readonly wallTime: () => number;
  readonly ticks: () => number;
  /** A delivery may be due. */
  readonly onDue: () => void;
  readonly onDamaged: (taskId: TaskId, error: unknown) => void;
}

/** Push configs: the backend stores them with their cursors, the schedule in memory knows which of them are due. */
export function createPushStore(parts: PushStoreParts) {
  const { backend, writer, cache } = parts;
  const schedule = createPushSchedule({
    wallTime: parts.wallTime,
    ticks: parts.ticks,
    onDue: parts.onDue,
    readWaiting: backend.pushes.waiting,
    waitingMax: LIMITS.pushesWaitingMax,
  });
  /** The newest version of the configs of a task, committed or not, while they are being written or are claimed. */
  const current = new Map<TaskId, readonly PushSubscription[]>();
  const pendingWrites = new Map<TaskId, number>();
  const claims = new WeakMap<PushSubscription, ScheduledPush>();
  for (const { behind, ...one } of backend.pushes.idle())
    if (behind) schedule.addReady(one);
    else schedule.addIdle(one);

  const readCurrent = (taskId: TaskId): readonly PushSubscription[] =>
    current.get(taskId) ?? backend.pushes.of(taskId);

  function dropUnused(taskId: TaskId): void {
    if (!pendingWrites.has(taskId) && !schedule.hasClaimed(taskId)) current.delete(taskId);
  }

  function unschedule(push: ScheduledPush): void {
    schedule.remove(push);
    dropUnused(push.taskId);
  }

  function write(taskId: TaskId, id: string, subscription: PushSubscription | null): Promise<void> {
    const before = readCurrent(taskId);
    const index = before.findIndex(one => one.config.id === id);
    if (!subscription) current.set(taskId, index === -1 ? before : before.toSpliced(index, 1));
    else current.set(taskId, index === -1 ? [...before, subscription] : before.with(index, subscription));
    pendingWrites.set(taskId, (pendingWrites.get(taskId) ?? 0) + 1);
    const done = writer.writePush({ taskId, id, subscription });
    const settle = (): void => {
      const left = (pendingWrites.get(taskId) ?? 1) - 1;
      if (left > 0) pendingWrites.set(taskId, left);
      else pendingWrites.delete(taskId);
      dropUnused(taskId);
    };
    done.then(settle, () => {
      // Nothing was written: go back to the stored version.
      current.delete(taskId);
      settle();
    });
    return done;
  }

  function findEntry(scope: Scope, taskId: TaskId): TaskEntry {
    const entry = cache.find(scope, taskId);
    if (!entry?.commit.task) throw taskNotFound(taskId);
    return entry;
  }

  /** `after`: the end of the log before the events of the same append. */
  function put(entry: TaskEntry, push: NewPushSubscription, after: number): Promise<void> {
    const { taskId } = entry;
    const old = readCurrent(taskId).find(one => one.config.id === push.config.id);
    const isUpdate = old?.config.url === push.config.url;
    const subscription = isUpdate
      ? updateSubscription(old, push)
      : createSubscription(entry, push, after, parts.wallTime());
    const done = write(taskId, push.config.id, subscription);
    done.then(
      () => startDelivery(subscription, isUpdate),
      () => {},
    );
    return done;
  }

  function startDelivery({ taskId, config, cursor, state }: PushSubscription, isUpdate: boolean): void {
    const push = schedule.find(taskId, config.id);
    if (push && isUpdate) return schedule.expedite(push);
    if (push) unschedule(push);
    if (state === "live") schedule.addReady({ taskId, id: config.id, host: hostOf(config), cursor });
  }

  function toClaimed(push: ScheduledPush): readonly PushSubscription[] {
    const found = tryFind(push);
    if (found?.state !== "live") {
      unschedule(push);
      return [];
    }
    current.set(push.taskId, readCurrent(push.taskId));
    const claimed = { ...found, cursor: Math.max(found.cursor, push.cursor) as Seq };
    claims.set(claimed, push);
    return [claimed];
  }

  /** A config that cannot be read must not block the others. */
  function tryFind({ taskId, id }: ScheduledPush): PushSubscription | undefined {
    try {
      return readCurrent(taskId).find(one => one.config.id === id);
    } catch (error) {
      parts.onDamaged(taskId, error);
      return undefined;
    }
  }

  const pushes: PushConfigs = {
    async set(scope, taskId, push) {
      const entry = findEntry(scope, taskId);
      checkLimit(taskId, push);
      await put(entry, push, entry.tail.seq);
    },
    async list(scope, taskId) {
      findEntry(scope, taskId);
      return backend.pushes.of(taskId).map(one => one.config);
    },
    async remove(scope, taskId, id) {
      findEntry(scope, taskId);
      await remove(taskId, id);
    },
  };

  function checkLimit(taskId: TaskId, { config }: NewPushSubscription): void {
    const others = readCurrent(taskId).filter(one => one.config.id !== config.id);
    if (others.length >= LIMITS.pushConfigsPerTaskMax)
      throw new Fault(
        "invalid-params",
        `A task has at most ${LIMITS.pushConfigsPerTaskMax} push configs; delete one, or give the id of one that is to be replaced`,
        { taskId },
      );
  }

  async function remove(taskId: TaskId, id: string): Promise<void> {
    if (!readCurrent(taskId).some(one => one.config.id === id)) return;
    await write(taskId, id, null);
    const push = schedule.find(taskId, id);
    if (push) unschedule(push);
  }

  const deliveries: PushQueue = {
    async claim(busy, max) {
      return schedule.claim(busy, max).flatMap(toClaimed);
    },
    async record(claimed, progress, attempt) {
      const push = claims.get(claimed);
      const now = readCurrent(claimed.taskId).find(one => one.config.id === claimed.config.id);
      if (!push || !isClaimed(push) || !now) return null;
      const { until, failed, nextAt, ...rest } = now;
      const attempts = attempt ? [...now.attempts, attempt].slice(-LIMITS.pushAttemptsMax) : now.attempts;
      const next: PushSubscription = { ...rest, ...progress, attempts };
      await write(claimed.taskId, claimed.config.id, next).catch(error => {
        // The result of the attempt is not stored: the config is due again.
        push.hasChanged = true;
        throw error;
      });
      // The config may have been removed during the commit.
      if (!isClaimed(push)) return null;
      push.dueAt = next.nextAt && schedule.toDueAt(next.nextAt, retryDelayMs(attempts.at(-1)));
      claims.set(next, push);
      return next;
    },
    async remove(claimed) {
      if (claims.get(claimed)?.state === "claimed") await remove(claimed.taskId, claimed.config.id);
    },
    async release(claimed, cursor, more) {
      const push = claims.get(claimed);
      if (push?.state !== "claimed") return;
      push.cursor = cursor;
      push.hasChanged ||= more;
      if (claimed.state !== "live") return unschedule(push);
      schedule.release(push);
      dropUnused(claimed.taskId);
    },
    nextInMs: async () => schedule.nextInMs(),
    async list(taskId) {
      const since = parts.wallTime() - LIMITS.pushAttemptsMs;
      return backend.pushes
        .of(taskId)
        .map(one => ({ ...one, attempts: one.attempts.filter(({ at }) => at > since) }));
    },
    async redeliver(taskId, id, from) {
      const matching = readCurrent(taskId).filter(one => id === undefined || one.config.id === id);
      await Promise.all(matching.map(one => redeliver(one, from)));
      return matching.length;
    },
    async giveUp(taskId, id) {
      const found = readCurrent(taskId).find(one => one.config.id === id);
      if (found?.state !== "live") return false;
      const { nextAt, ...rest } = found;
      const done = write(taskId, id, { ...rest, state: "dead" });
      // The attempt that is under way is not recorded: its claim ends here.
      const push = schedule.find(taskId, id);
      if (push) unschedule(push);
      await done;
      return true;
    },
  };

  async function redeliver(subscription: PushSubscription, from: "place" | "start"): Promise<void> {
    const { until, failed, nextAt, ...rest } = subscription;
    const next: PushSubscription = {
      ...rest,
      ...(from === "place" && until !== undefined && { until }),
      ...(from === "start" && { cursor: subscription.start }),
      state: from === "place" && subscription.state === "done" ? "done" : "live",
    };
    await write(subscription.taskId, subscription.config.id, next);
    startDelivery(next, from === "place");
  }

  return {
    pushes,
    deliveries,
    onTaskChanged: schedule.onTaskChanged,
    hasClaimed: schedule.hasClaimed,
    /** Throws if the task already has the maximum number of configs. To be called before anything is appended. */
    checkLimit,
    /** Sets a config in the current commit. `after`: the end of the log before the events of this commit. */
    put,
    /** The stored task changed or was removed. */
    onPruned(taskId: TaskId): void {
      const scheduled = schedule.list(taskId);
      current.delete(taskId);
      if (scheduled.length === 0) return;
      const stored = new Set(backend.pushes.of(taskId).map(one => one.config.id));
      for (const push of scheduled) if (!stored.has(push.id)) unschedule(push);
      schedule.onTaskChanged(taskId);
    },
  };
}

const isClaimed = ({ state }: ScheduledPush): boolean => state === "claimed";

/** The first delivery is the whole task at its newest event, or the events after `after`. */
function createSubscription(
  { taskId, scope, tail }: TaskEntry,
  push: NewPushSubscription,
  after: number,
  now: number,
): PushSubscription {
  const start = (push.opening === "task" ? tail.seq - 1 : after) as Seq;
  return { ...push, scope, taskId, setAt: now, start, cursor: start, state: "live", attempts: [] };
}

/** A config with the same URL keeps its cursor; pending deliveries are due at once, with the new config. */
function updateSubscription(old: PushSubscription, { config }: NewPushSubscription): PushSubscription {
  const { failed, nextAt, ...rest } = old;
  return { ...rest, config, state: old.state === "done" ? "done" : "live" };
}
