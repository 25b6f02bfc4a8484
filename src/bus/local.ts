import type { Bell, Bus } from "../ports.ts";

/** A bus inside one process. It cannot lose a ring. */
export function createLocalBus(): Bus {
  const topics = new Map<string, Set<Bell>>();

  return {
    ring(topic) {
      const bells = topics.get(topic);
      if (bells) for (const bell of bells) bell.wake();
    },
    listen(topic) {
      const bell = createBell(() => {
        const bells = topics.get(topic);
        if (bells?.delete(bell) && bells.size === 0) topics.delete(topic);
      });
      const bells = topics.get(topic);
      if (bells) bells.add(bell);
      else topics.set(topic, new Set([bell]));
      return bell;
    },
  };
}

function createBell(close: () => void): Bell {
  let latched = false;
  let waiting: (() => void) | null = null;
  return {
    close,
    rung() {
      if (!latched) return new Promise(resolve => (waiting = resolve));
      latched = false;
      return Promise.resolve();
    },
    wake() {
      if (!waiting) latched = true;
      else {
        const resolve = waiting;
        waiting = null;
        resolve();
      }
    },
  };
}
