/** Time, chance and digests: what the server is given and does not make itself. */
import { createHash, randomBytes } from "node:crypto";
import type { Core, Dialect } from "./ports.ts";

/** What the house does not make itself: time, chance, and whoever watches from the doorway. */
export interface World {
  readonly clock: Clock;
  /** That many bytes of chance, as lower-case hex. */
  readonly chance: (bytes: number) => string;
  readonly around: {
    readonly core: (core: Core) => Core;
    readonly dialect: (dialect: Dialect) => Dialect;
  };
}
export interface Clock {
  now(): number;
  notBefore(ms: number): void;
  /** Goes by another clock from now on, whatever is done to the one of this machine; asked again, it is put right. */
  follow(ask: () => Promise<number>): Promise<void>;
}

export const createWorld = (): World => ({
  clock: createClock(),
  chance: createChance(),
  around: { core: core => core, dialect: dialect => dialect },
});

/** So long may the answer of another clock take. */
const FAIR_MS = 100;

/** Time that never goes back, whatever is done to the machine's clock: logs and lists are in its order. */
function createClock(): Clock {
  let last = 0;
  /** undefined: the machine's own. */
  let other: ((ticks: number) => number) | undefined;
  return {
    now(): number {
      const now = other ? Math.floor(other(performance.now())) : Date.now();
      if (now > last) last = now;
      return last;
    },
    notBefore(ms: number): void {
      if (ms > last) last = ms;
    },
    async follow(ask): Promise<void> {
      const before = performance.now();
      const ms = await ask();
      const tookMs = performance.now() - before;
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
