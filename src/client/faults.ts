import type { RefusalKind } from "./errors.ts";

/** The error numbers that this client acts on; the same in all dialects that have them. */
const NUMBERS: Readonly<Record<number, RefusalKind>> = {
  [-32001]: "task-not-found",
  [-32004]: "unsupported",
  [-32601]: "unsupported",
  // What this server says to a caller whom it does not know.
  [-32050]: "unauthenticated",
};

export const kindOfNumber = (code: number): RefusalKind => NUMBERS[code] ?? "other";

/** v0.1 §8 has numbers of its own for an agent that does not stream, and for a caller whom it does not know. */
const OLD_NUMBERS: Readonly<Record<number, RefusalKind>> = {
  ...NUMBERS,
  [-32006]: "unsupported",
  [-32007]: "unauthenticated",
};

export const kindOfOldNumber = (code: number): RefusalKind => OLD_NUMBERS[code] ?? "other";

/** A refusal over HTTP+JSON: v0.3 has the number of JSON-RPC in it, v1 only a status where it gives no reason. */
export function kindOfStatus(status: number, code: unknown): RefusalKind {
  if (typeof code === "number" && code < 0) return kindOfNumber(code);
  if (status === 404) return "task-not-found";
  return status === 405 || status === 501 ? "unsupported" : "other";
}
