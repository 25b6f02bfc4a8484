declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type TaskId = Brand<string, "TaskId">;
export type ContextId = Brand<string, "ContextId">;
export type AgentName = Brand<string, "AgentName">;
/** The number of an event in its task's log: 1, 2, 3, … without gaps. */
export type Seq = Brand<number, "Seq">;

export const BEGINNING = 0 as Seq;

declare const authorized: unique symbol;
/** Proof of authorization: whose tasks may be accessed. Only auth/ creates one; stores return those that they were given. */
export interface Scope {
  readonly tenant: string;
  readonly principal: string;
  /** The only agents that the caller may know of; absent: all agents of its tenant. */
  readonly agents?: ReadonlySet<AgentName>;
  /** The call comes from an agent of this server: internal agents exist for it, too. */
  readonly fromAgent?: true;
  readonly [authorized]: true;
}

/** Milliseconds of 2024-01-01: with it a time key of 41 + 12 bits fits a double exactly until 2093. */
const EPOCH_MS = 1_704_067_200_000;
const COUNTER_SIZE = 4096;

/**
 * Generates UUIDs of version 7: 48 bits of milliseconds, 12 bits of counter, 62 random bits.
 * Time and counter make them ascend, so that a store can use them as one small integer (`timeKey`);
 * the random bits make them impossible to guess.
 */
export function createIdGenerator(parts: {
  now: () => number;
  /** That many random bytes, as lower-case hex. */
  randomHex: (bytes: number) => string;
}): () => string {
  let lastMs = 0;
  let counter = 0;
  let head = "";
  return () => {
    const ms = Math.max(lastMs, parts.now());
    if (ms > lastMs || ++counter === COUNTER_SIZE) {
      lastMs = ms > lastMs ? ms : lastMs + 1;
      counter = 0;
      const time = lastMs.toString(16).padStart(12, "0");
      head = `${time.slice(0, 8)}-${time.slice(8)}-7`;
    }
    const random = parts.randomHex(8);
    // RFC 9562: the two highest bits are 10, so the first digit is one of 8, 9, a, b.
    const variant = VARIANTS[random.charCodeAt(0) & 3];
    return `${head}${COUNTS[counter]}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
  };
}

const VARIANTS = ["8", "9", "a", "b"] as const;
const COUNTS = Array.from({ length: COUNTER_SIZE }, (_, count) => count.toString(16).padStart(3, "0"));

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The positions of the digits of the time, and of the counter. */
const TIME_AT = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12];
const COUNT_AT = [15, 16, 17];

/** The ascending integer in an id, or null for an id that this server cannot have generated. */
export function timeKey(id: string): number | null {
  if (!ID.test(id)) return null;
  const ms = numberAt(id, TIME_AT) - EPOCH_MS;
  const key = ms * COUNTER_SIZE + numberAt(id, COUNT_AT);
  return ms >= 0 && Number.isSafeInteger(key) ? key : null;
}

function numberAt(id: string, positions: readonly number[]): number {
  let number = 0;
  for (const position of positions) {
    const char = id.charCodeAt(position);
    number = number * 16 + (char < 58 ? char - 48 : char - 87);
  }
  return number;
}

/** When the id with this integer was generated, in milliseconds. */
export const timeOfKey = (key: number): number => Math.floor(key / COUNTER_SIZE) + EPOCH_MS;

/** The least integer, and the least id, of a time in milliseconds: ids of that time or later are not below it. */
export const firstKeyAt = (ms: number): number => Math.max(0, Math.ceil(ms) - EPOCH_MS) * COUNTER_SIZE;
export function firstIdAt(ms: number): string {
  const time = Math.min(Math.max(0, Math.ceil(ms)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
