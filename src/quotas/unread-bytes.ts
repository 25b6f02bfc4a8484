import { Fault, LIMITS } from "../model/index.ts";
import type { OperationResult, Release, UnreadBytes } from "../ports/index.ts";
import { keyOf } from "./quotas.ts";

/** Long enough for a fast reader to read a large response. */
const RETRY_MS = 5_000;

/** The share of one caller, so that it cannot use the memory of all. */
const CALLER_SHARE = 1 / 2;

/**
 * Limits the unread bytes of large responses. A caller without unread bytes gets a response of any size, as long as the
 * process has room, so that every task can be read.
 */
export function createUnreadBytes({ unreadBytesMax }: { readonly unreadBytesMax: number }): UnreadBytes {
  const callerBytesMax = unreadBytesMax * CALLER_SHARE;
  const byCaller = new Map<string, number>();
  let total = 0;

  const heldBy = (key: string | undefined): number => (key === undefined ? 0 : (byCaller.get(key) ?? 0));

  /** Bytes that the next response to this caller may have. */
  function roomOf(key: string | undefined): number {
    if (total >= unreadBytesMax) return 0;
    const held = heldBy(key);
    return held === 0 ? Number.POSITIVE_INFINITY : Math.max(0, callerBytesMax - held);
  }

  function add(key: string | undefined, bytes: number): void {
    total += bytes;
    if (key === undefined) return;
    const held = heldBy(key) + bytes;
    if (held === 0) byCaller.delete(key);
    else byCaller.set(key, held);
  }

  function take(key: string | undefined, bytes: number): Release {
    add(key, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) add(key, -bytes);
      isHeld = false;
    };
  }

  /** `result`: is not sent, but its task is recorded. */
  function refusal(result?: OperationResult): Fault {
    const details = {
      retryAfterMs: RETRY_MS,
      ...(result?.kind === "task" && { taskId: result.task.id }),
    };
    if (total >= unreadBytesMax)
      return new Fault("unavailable", "Too many unread response bytes on this server; retry later", details);
    const message = `Quota exceeded: a caller may have ${callerBytesMax} unread response bytes; read the open responses first`;
    return new Fault("rate-limited", message, details);
  }

  return {
    get bytes() {
      return total;
    },
    get isFull() {
      return total >= unreadBytesMax;
    },
    checkRoom(scope) {
      if (roomOf(keyOf(scope, "caller")) < LIMITS.chunkBytes) throw refusal();
    },
    check(scope, result) {
      const room = roomOf(keyOf(scope, "caller"));
      if (Number.isFinite(room) && isLarger(result, Math.max(room, LIMITS.chunkBytes))) throw refusal(result);
    },
    hold(scope, bytes) {
      const key = scope && keyOf(scope, "caller");
      if (bytes > roomOf(key)) throw refusal();
      return take(key, bytes);
    },
    count: bytes => take(undefined, bytes),
  };
}

/** Whether the texts of a result have more characters than this. Agents and cards are small. */
function isLarger(result: OperationResult, charsMax: number): boolean {
  if (result.kind !== "task" && result.kind !== "page" && result.kind !== "message") return false;
  const rest: unknown[] =
    result.kind === "task" ? [result.task] : result.kind === "page" ? [result.page] : [result.message];
  let chars = 0;
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") chars += value.length;
    else if (value !== null && typeof value === "object")
      for (const inner of Object.values(value)) rest.push(inner);
    if (chars > charsMax) return true;
  }
  return false;
}
