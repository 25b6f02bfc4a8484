import { ChurnMap } from "../lib/churn-map.ts";
import type { Wakeable } from "../lib/latch.ts";
import type { Bus } from "../ports/index.ts";

export interface LocalBus extends Bus {
  /** Rings for everybody who listens. */
  ringAll(): void;
}

/** A bus inside one process. It cannot lose a ring. */
export function createLocalBus(): LocalBus {
  /** Most topics have one listener: it stands here by itself. */
  const topics = new ChurnMap<string, Wakeable | Set<Wakeable>>();

  function ring(topic: string): void {
    const there = topics.get(topic);
    if (there instanceof Set) for (const one of there) one.wake();
    else there?.wake();
  }

  return {
    notify: ring,
    ringAll() {
      for (const topic of [...topics.keys()]) ring(topic);
    },
    subscribe(topic, sleeper) {
      const there = topics.get(topic);
      if (there === undefined) topics.set(topic, sleeper);
      else if (there instanceof Set) there.add(sleeper);
      else topics.set(topic, new Set([there, sleeper]));
    },
    unsubscribe(topic, sleeper) {
      const there = topics.get(topic);
      if (there === sleeper) topics.delete(topic);
      else if (there instanceof Set && there.delete(sleeper) && there.size === 0) topics.delete(topic);
    },
  };
}
