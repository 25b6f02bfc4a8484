/** Time, random bytes and digests. Tests hand in their own, so that a recorded exchange replays byte for byte. */
import { createHash, randomBytes } from "node:crypto";
import { systemTimers, type Timers } from "../lib/timers.ts";
import type { ExecuteOperation } from "../ports/index.ts";

export interface ServerEnvironment {
  readonly clock: Clock;
  /** So many random bytes as lower-case hex. */
  readonly randomHex: (bytes: number) => string;
  /** For tests. */
  readonly wrapExecute: (execute: ExecuteOperation) => ExecuteOperation;
}

/** Three clocks, one for each purpose (decision 0025), and timers for what is due at a time (decision 0030). */
export interface Clock extends Timers {
  /** Event time in epoch milliseconds: never goes back, and may be far ahead. For ids, times and the order of events only. */
  now(): number;
  /** The time of day in epoch milliseconds: may be set forward and back. For everything that expires at a date. */
  wallTime(): number;
  /** Milliseconds since an arbitrary moment, unaffected by changes of the system clock. For durations. */
  ticks(): number;
  /** Event time continues after this time, at which the newest event was recorded. */
  notBefore(ms: number): void;
  /** Takes the wall time from another clock from now on; each further call corrects it. */
  follow(ask: () => Promise<number>): Promise<void>;
}

export const createEnvironment = (): ServerEnvironment => ({
  clock: createClock(),
  randomHex: createRandomHex(),
  wrapExecute: execute => execute,
});

/** A slower answer of the other clock is too inexact to correct by. */
const ANSWER_MS_MAX = 100;

function createClock(): Clock {
  let last = 0;
  /** The wall time at a number of ticks, by another clock; undefined: the system clock is used. */
  let other: ((ticks: number) => number) | undefined;
  const ticks = (): number => performance.now();
  const wallTime = (): number => (other ? Math.floor(other(ticks())) : Date.now());
  return {
    ...systemTimers,
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
      // The other clock was read at an unknown moment of that time: its middle is the best estimate.
      if (!other || tookMs <= ANSWER_MS_MAX) other = ticks => ms + ticks - before - tookMs / 2;
    },
  };
}

/** 52 of its bits as a number from 0 up to 1. */
export const toFraction = (hex: string): number => Number.parseInt(hex.slice(0, 13), 16) / 2 ** 52;

export const toDigest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Draws from the system in bulk. */
function createRandomHex(): (bytes: number) => string {
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
