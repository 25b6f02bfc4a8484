/** Begins work at the times of schedules. */
import { nextTime, parseCron } from "../lib/cron.ts";
import { Latch } from "../lib/latch.ts";
import type { Timers } from "../lib/timers.ts";
import { Fault, LIMITS } from "../model/index.ts";
import {
  type Bus,
  type DueSchedule,
  type Log,
  SCHEDULE_DUE,
  type Schedule,
  type ScheduleStore,
} from "../ports/index.ts";

export interface SchedulerParts {
  readonly store: { readonly schedules: ScheduleStore };
  readonly bus: Bus;
  readonly log: Log;
  readonly wallTime: () => number;
  readonly timers: Timers;
  /**
   * Begins the work of a schedule. `key` is the same whenever this time of this schedule is tried again: the work must begin
   * once, however often it is called with the same key.
   */
  readonly begin: (due: DueSchedule, key: string) => Promise<void>;
}

export interface Scheduler {
  /** Resolves when no work is about to begin. */
  stop(): Promise<void>;
}

/** The shortest wait for a schedule that is due and cannot be claimed: another node is about to begin it. */
const WAIT_MS_MIN = 1_000;

/**
 * Claims due schedules and begins their work. The time of a schedule moves on after its work has begun, and the work has a
 * key, so that it begins exactly once over all nodes, crashes and restarts.
 */
export function createScheduler(parts: SchedulerParts): Scheduler {
  const { bus, log, wallTime } = parts;
  const { schedules } = parts.store;
  const due = new Latch();
  bus.subscribe(SCHEDULE_DUE, due);
  let isStopped = false;
  let clearTimer = (): void => {};

  async function loop(): Promise<void> {
    while (!isStopped) {
      const claimed = await claim();
      await Promise.all(claimed.map(beginOne));
      if (claimed.length > 0 || isStopped) continue;
      await setTimer();
      await due.wait();
    }
  }

  async function claim(): Promise<readonly DueSchedule[]> {
    try {
      return await schedules.claim(LIMITS.schedulesDueMax, LIMITS.scheduleLeaseMs);
    } catch (error) {
      log.error({ err: error }, "due schedules could not be claimed");
      return [];
    }
  }

  async function beginOne(claimed: DueSchedule): Promise<void> {
    const { id, agent, nextAt } = claimed.schedule;
    try {
      await parts.begin(claimed, `schedule:${id}:${nextAt}`);
    } catch (error) {
      const facts = { schedule: id, agent, at: nextAt, err: error };
      // The claim ends with its lease, and the same time is tried again.
      if (error instanceof Fault && error.code === "unavailable")
        return log.warn(facts, "the work of a schedule could not begin; it is tried again");
      log.error(facts, "the work of a schedule could not begin; it is skipped this time");
    }
    await settle(claimed);
  }

  /** Times that passed while no server was running are not made up for: the work has just begun once for all of them. */
  async function settle(claimed: DueSchedule): Promise<void> {
    try {
      await schedules.settle(claimed, nextTimeOf(claimed.schedule, wallTime()));
    } catch (error) {
      log.warn(
        { schedule: claimed.schedule.id, err: error },
        "a schedule could not be moved on; it is retried",
      );
    }
  }

  async function setTimer(): Promise<void> {
    clearTimer();
    const inMs = await schedules.nextInMs().catch(() => undefined);
    const waitMs = Math.min(Math.max(inMs ?? LIMITS.schedulePollMs, WAIT_MS_MIN), LIMITS.schedulePollMs);
    // A time that has not come yet is waited for to the millisecond.
    const exactMs = inMs !== undefined && inMs > 0 ? Math.min(inMs, waitMs) : waitMs;
    if (!isStopped)
      clearTimer = parts.timers.after(exactMs, () => due.wake(), exactMs === inMs ? undefined : "poll");
  }

  const looped = loop().catch(error => log.error({ err: error }, "schedules have stopped"));

  return {
    async stop() {
      isStopped = true;
      due.wake();
      await looped;
      clearTimer();
      bus.unsubscribe(SCHEDULE_DUE, due);
    },
  };
}

/** The next time of a schedule after `after`; undefined: there is none. */
export function nextTimeOf(
  { cron, timezone, endAt, isEnabled }: Pick<Schedule, "cron" | "timezone" | "endAt" | "isEnabled">,
  after: number,
): number | undefined {
  if (!isEnabled) return undefined;
  const at = nextTime(parseCron(cron), timezone, after);
  return endAt !== undefined && at > endAt ? undefined : at;
}
