import { Fault, LIMITS } from "../model/index.ts";
import type { Answer, Release, UnreadBytes } from "../ports/index.ts";
import { keyOf } from "./quotas.ts";

/** When a refused caller may try again: a reader that keeps pace has taken a large answer by then. */
const RETRY_MS = 5_000;

/** One caller may hold this part of what all may hold, so that it cannot take the room of the others. */
const CALLER_SHARE = 1 / 2;

/**
 * Bounds the bytes of large answers that callers have not read. A caller that has nothing unread gets its answer however
 * large it is, as long as the process has room, so that every task can be read whole.
 */
export function createUnread({ unreadBytesMax }: { readonly unreadBytesMax: number }): UnreadBytes {
  const callerBytesMax = unreadBytesMax * CALLER_SHARE;
  const byCaller = new Map<string, number>();
  let total = 0;

  const heldBy = (key: string | undefined): number => (key === undefined ? 0 : (byCaller.get(key) ?? 0));

  /** Bytes that one more answer of this caller may have. */
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

  /** `answer`: what is not sent. A task of it is recorded all the same. */
  function refusal(answer?: Answer): Fault {
    const details = {
      retryAfterMs: RETRY_MS,
      ...(answer?.kind === "task" && { taskId: answer.task.id }),
    };
    if (total >= unreadBytesMax)
      return new Fault(
        "unavailable",
        "Too many bytes of answers wait for their readers; try again soon",
        details,
      );
    const message = `A caller may have ${callerBytesMax} bytes of large answers unread; read those that are open first`;
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
      if (roomOf(keyOf(scope, "caller")) < LIMITS.pieceBytes) throw refusal();
    },
    check(scope, answer) {
      const room = roomOf(keyOf(scope, "caller"));
      if (Number.isFinite(room) && isLarger(answer, Math.max(room, LIMITS.pieceBytes))) throw refusal(answer);
    },
    hold(scope, bytes) {
      const key = scope && keyOf(scope, "caller");
      if (bytes > roomOf(key)) throw refusal();
      return take(key, bytes);
    },
    count: bytes => take(undefined, bytes),
  };
}

/** Whether the texts of an answer have more characters than this. Agents and cards are small. */
function isLarger(answer: Answer, charsMax: number): boolean {
  if (answer.kind !== "task" && answer.kind !== "page" && answer.kind !== "message") return false;
  const rest: unknown[] =
    answer.kind === "task" ? [answer.task] : answer.kind === "page" ? [answer.page] : [answer.message];
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
