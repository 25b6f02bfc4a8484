import type { Child } from "../shared/child.ts";

export interface PoolParts {
  open(): Child;
  /** The maximum number of processes; 0: one per run, without a maximum. */
  readonly max: number;
  /** How long a process may be idle. */
  readonly idleMs: number;
}

/** The processes of one agent. */
export interface Pool {
  /** An idle process, else a new one, else waits for one. */
  acquire(signal: AbortSignal): Promise<Child>;
  /** The turn is complete: the process can be used again. */
  release(child: Child): void;
  /** The turn is not complete: the process is stopped. */
  discard(child: Child): void;
}

interface Waiter {
  resolve(child: Child): void;
  reject(error: unknown): void;
}

export function createPool({ open, max, idleMs }: PoolParts): Pool {
  const running = new Set<Child>();
  /** Idle processes with the timers that end them. */
  const idle = new Map<Child, NodeJS.Timeout>();
  const waiters: Waiter[] = [];

  const killAll = (): void => {
    for (const child of running) child.kill("SIGKILL");
  };
  /** The processes are killed when this process exits, except if it gets SIGKILL itself. */
  function watchExit(step: 1 | -1): void {
    process.setMaxListeners(process.getMaxListeners() + step);
    if (step === 1) process.on("exit", killAll);
    else process.off("exit", killAll);
  }

  function start(): Child {
    const child = open();
    if (running.size === 0) watchExit(1);
    running.add(child);
    child.ended.then(() => remove(child));
    return child;
  }

  function stopIdleTimer(child: Child): void {
    clearTimeout(idle.get(child));
    idle.delete(child);
  }

  function remove(child: Child): void {
    stopIdleTimer(child);
    running.delete(child);
    if (running.size === 0) watchExit(-1);
    const next = waiters.shift();
    try {
      next?.resolve(start());
    } catch (error) {
      next?.reject(error);
    }
  }

  return {
    acquire(signal) {
      // The process that was used last, so that surplus ones reach their idle timeout.
      const child = [...idle.keys()].at(-1);
      if (!child)
        return max === 0 || running.size < max ? Promise.resolve(start()) : waitForChild(waiters, signal);
      stopIdleTimer(child);
      child.keepAlive(true);
      return Promise.resolve(child);
    },
    release(child) {
      if (max === 0) return child.closeInput();
      if (child.hasExited) return;
      const next = waiters.shift();
      if (next) return next.resolve(child);
      child.keepAlive(false);
      const retire = (): void => {
        stopIdleTimer(child);
        child.closeInput();
      };
      idle.set(child, setTimeout(retire, idleMs).unref());
    },
    discard: child => child.stop(),
  };
}

function waitForChild(waiters: Waiter[], signal: AbortSignal): Promise<Child> {
  const { promise, resolve, reject } = Promise.withResolvers<Child>();
  const waiter = { resolve, reject };
  const leave = (): void => {
    const at = waiters.indexOf(waiter);
    if (at !== -1) waiters.splice(at, 1);
    reject(signal.reason);
  };
  waiters.push(waiter);
  signal.addEventListener("abort", leave, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", leave));
}
