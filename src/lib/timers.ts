/** "wait": something waits for it, and the process stays alive. "poll": it may come late, because it looks for things to do. */
export type TimerKind = "wait" | "poll";

/** Waits that end at a time: they follow the clock of the server. */
export interface Timers {
  /** Calls once after so many milliseconds, however many; the returned function prevents it. */
  after(ms: number, call: () => void, kind?: TimerKind): () => void;
}

/** The maximum of `setTimeout`. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Timers of the system. */
export const systemTimers: Timers = {
  after(ms, call, kind) {
    let left = ms;
    let timer: NodeJS.Timeout;
    const next = (): void => {
      const waitMs = Math.min(left, TIMER_MS_MAX);
      left -= waitMs;
      timer = setTimeout(() => (left > 0 ? next() : call()), waitMs);
      if (kind !== "wait") timer.unref();
    };
    next();
    return () => clearTimeout(timer);
  },
};

/** Resolves after so many milliseconds; rejects with the signal's reason. */
export function waitFor({ after }: Timers, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(signal.reason);
    };
    const onTime = (): void => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const cancel = after(ms, onTime, "wait");
    signal.addEventListener("abort", stop, { once: true });
  });
}
