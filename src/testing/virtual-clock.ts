import type { TimerKind } from "../lib/timers.ts";
import type { Clock } from "../server/clock.ts";

/** Time in a test: it stands still until the test moves it, or until all runs sleep. */
export interface TestClock {
  /** In epoch milliseconds. */
  now(): number;
  /** Moves the time: milliseconds, or "90s", "5m", "1h", "2d". Everything that becomes due happens in its order. */
  advance(time: number | string): Promise<void>;
}

interface PendingCall {
  readonly at: number;
  readonly call: () => void;
  readonly isPoll: boolean;
}

/** What the runs of a server are doing, as far as the clock has to know. */
export interface RunActivity {
  /** Steps of runs that are being executed, except those that sleep themselves. */
  readonly stepsRunning: number;
  /** When the sleeping runs wake up. */
  readonly wakeTimes: Iterable<number>;
}

/** Turns of the event loop: more than the server needs to react to something, if it waits for nothing else. */
const TURNS = 24;

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export function toMs(time: number | string): number {
  const [, amount, unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|[smhd])$/.exec(String(time)) ?? [];
  const ms = typeof time === "number" ? time : Number(amount) * (UNITS_MS[unit] as number);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new TypeError(
    `"${time}" is not a duration: expected milliseconds, or a text such as "90s", "1h", "2d"`,
  );
}

export class VirtualClock implements Clock, TestClock {
  #time: number;
  #lastEvent = 0;
  readonly #pending = new Set<PendingCall>();
  #isSkipping = false;
  readonly #skips: boolean;
  readonly #activity: () => RunActivity;

  constructor(parts: {
    readonly startAt: number;
    readonly skips: boolean;
    readonly activity: () => RunActivity;
  }) {
    this.#time = parts.startAt;
    this.#skips = parts.skips;
    this.#activity = parts.activity;
  }

  readonly now = (): number => Math.max(this.#time, this.#lastEvent);
  readonly wallTime = (): number => this.#time;
  readonly ticks = (): number => this.#time;
  readonly notBefore = (ms: number): void => void (this.#lastEvent = Math.max(ms, this.#lastEvent));
  readonly follow = async (): Promise<void> => {};

  readonly after = (ms: number, call: () => void, kind?: TimerKind): (() => void) => {
    const pending = { at: this.#time + Math.max(0, ms), call, isPoll: kind === "poll" };
    this.#pending.add(pending);
    if (ms <= 0) setImmediate(() => this.#fire(pending));
    return () => void this.#pending.delete(pending);
  };

  readonly advance = async (time: number | string): Promise<void> => {
    await this.#moveTo(this.#time + toMs(time));
    this.skip();
  };

  /** Moves on to the end of the next sleep, if no run does anything but sleep. */
  readonly skip = (): void => {
    if (this.#isSkipping || !this.#skips) return;
    this.#isSkipping = true;
    void this.#skipAll().finally(() => (this.#isSkipping = false));
  };

  async #skipAll(): Promise<void> {
    for (;;) {
      await settle();
      const { stepsRunning, wakeTimes } = this.#activity();
      const next = Math.min(...wakeTimes);
      if (stepsRunning > 0 || next === Number.POSITIVE_INFINITY) return;
      await this.#moveTo(next);
    }
  }

  /** One call after the other: each may set further timers. */
  async #moveTo(end: number): Promise<void> {
    for (;;) {
      await settle();
      const due = this.#dueBy(end).filter(one => !one.isPoll)[0];
      if (!due) break;
      this.#time = Math.max(this.#time, due.at);
      this.#fire(due);
    }
    this.#time = Math.max(this.#time, end);
    // Thousands of polls in a day would find the same as one at its end.
    for (const poll of this.#dueBy(end)) this.#fire(poll);
    await settle();
  }

  #dueBy(time: number): readonly PendingCall[] {
    return [...this.#pending].filter(one => one.at <= time).sort((a, b) => a.at - b.at);
  }

  #fire(pending: PendingCall): void {
    if (this.#pending.delete(pending)) pending.call();
  }
}

/** Lets the server react. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise(resolve => void setImmediate(resolve));
}
