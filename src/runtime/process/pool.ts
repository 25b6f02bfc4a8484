import type { Child } from "./child.ts";

export interface PoolParts {
  open(): Child;
  /** Processes at once; 0: one per run, as many as there are runs. */
  readonly max: number;
  /** How long a process may have nothing to do. */
  readonly idleMs: number;
}

/** The processes of one agent. */
export interface Pool {
  /** One that has nothing to do; else a new one; else waits in line until there is one. */
  take(signal: AbortSignal): Promise<Child>;
  /** It has done its work well. */
  give(child: Child): void;
  /** It has not, or not to the end. */
  drop(child: Child): void;
}

interface Waiting {
  resolve(child: Child): void;
  reject(error: unknown): void;
}

export function createPool({ open, max, idleMs }: PoolParts): Pool {
  const alive = new Set<Child>();
  /** With what ends those that get nothing to do for too long. */
  const idle = new Map<Child, NodeJS.Timeout>();
  const line: Waiting[] = [];

  const killAll = (): void => {
    for (const child of alive) child.kill("SIGKILL");
  };
  /** However this process ends, its children end with it; but for a kill that nobody can hear. */
  function watch(step: 1 | -1): void {
    process.setMaxListeners(process.getMaxListeners() + step);
    if (step === 1) process.on("exit", killAll);
    else process.off("exit", killAll);
  }

  function begin(): Child {
    const child = open();
    if (alive.size === 0) watch(1);
    alive.add(child);
    child.ended.then(() => forget(child));
    return child;
  }

  function rouse(child: Child): void {
    clearTimeout(idle.get(child));
    idle.delete(child);
  }

  function forget(child: Child): void {
    rouse(child);
    alive.delete(child);
    if (alive.size === 0) watch(-1);
    const next = line.shift();
    try {
      next?.resolve(begin());
    } catch (error) {
      next?.reject(error);
    }
  }

  function retire(child: Child): void {
    rouse(child);
    child.release();
  }

  return {
    take(signal) {
      // The one that worked last, so that those that nobody needs are let go.
      const child = [...idle.keys()].at(-1);
      if (!child) return max === 0 || alive.size < max ? Promise.resolve(begin()) : standIn(line, signal);
      rouse(child);
      child.hold(true);
      return Promise.resolve(child);
    },
    give(child) {
      if (max === 0) return child.release();
      if (child.isOver) return;
      const next = line.shift();
      if (next) return next.resolve(child);
      child.hold(false);
      idle.set(child, setTimeout(() => retire(child), idleMs).unref());
    },
    drop: child => child.stop(),
  };
}

/** Waits in line, unless nobody wants it any more. */
function standIn(line: Waiting[], signal: AbortSignal): Promise<Child> {
  const { promise, resolve, reject } = Promise.withResolvers<Child>();
  const waiting = { resolve, reject };
  const leave = (): void => {
    const at = line.indexOf(waiting);
    if (at !== -1) line.splice(at, 1);
    reject(signal.reason);
  };
  line.push(waiting);
  signal.addEventListener("abort", leave, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", leave));
}
