/** Time, chance and digests: what the server is given and does not make itself. */
import { createHash, randomBytes } from "node:crypto";
import type { Dialect, ExecuteOperation } from "../ports/index.ts";

/** What the house does not make itself: time, chance, and whoever watches from the doorway. */
export interface World {
  readonly clock: Clock;
  /** That many bytes of chance, as lower-case hex. */
  readonly chance: (bytes: number) => string;
  readonly around: {
    readonly core: (core: ExecuteOperation) => ExecuteOperation;
    readonly dialect: (dialect: Dialect) => Dialect;
  };
}
/** Three clocks, one for each purpose; decision 0025 says which of them to use. */
export interface Clock {
  /** Event time in epoch milliseconds: never goes back, and may be far ahead. For ids, times and the order of events only. */
  now(): number;
  /** The time of day in epoch milliseconds: may be set forward and back. For everything that expires at a date. */
  wallTime(): number;
  /** Milliseconds since an arbitrary moment, at the speed of real time, whatever is done to clocks. For durations. */
  ticks(): number;
  /** Events are recorded up to this time: event time goes on after it. */
  notBefore(ms: number): void;
  /** Takes the wall time from another clock from now on; each further call corrects it. */
  follow(ask: () => Promise<number>): Promise<void>;
}

export const createWorld = (): World => ({
  clock: createClock(),
  chance: createChance(),
  around: { core: core => core, dialect: dialect => dialect },
});

/** So long may the answer of another clock take. */
const FAIR_MS = 100;

function createClock(): Clock {
  let last = 0;
  /** The wall time at a number of ticks, by another clock; undefined: the system's clock is used. */
  let other: ((ticks: number) => number) | undefined;
  const ticks = (): number => performance.now();
  const wallTime = (): number => (other ? Math.floor(other(ticks())) : Date.now());
  return {
    ticks,
    wallTime,
    now(): number {
      const now = wallTime();
      if (now > last) last = now;
      return last;
    },
    notBefore(ms: number): void {
      if (ms > last) last = ms;
    },
    async follow(ask): Promise<void> {
      const before = ticks();
      const ms = await ask();
      const tookMs = ticks() - before;
      // It was read somewhere in between: an answer that took long tells little.
      if (!other || tookMs <= FAIR_MS) other = ticks => ms + ticks - before - tookMs / 2;
    },
  };
}

/** 52 of its bits as a number from 0 up to 1. */
export const toFraction = (hex: string): number => Number.parseInt(hex.slice(0, 13), 16) / 2 ** 52;

export const toDigest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Random bytes as hex, drawn from the system in bulk. */
function createChance(): (bytes: number) => string {
  let pool = "";
  let used = 0;
  return bytes => {
    if (used + 2 * bytes > pool.length) {
      pool = randomBytes(4096).toString("hex");
      used = 0;
    }
    used += 2 * bytes;
    return pool.slice(used - 2 * bytes, used);
  };
}
