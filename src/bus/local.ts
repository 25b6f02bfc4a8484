import { ChurnMap } from "../lib/churn-map.ts";
import type { Wakeable } from "../lib/latch.ts";
import type { Bus } from "../ports/index.ts";

export interface LocalBus extends Bus {
  notifyAll(): void;
}

/** A bus inside one process. It cannot lose a notification. */
export function createLocalBus(): LocalBus {
  /** Most topics have one subscriber: it is stored without a set around it. */
  const topics = new ChurnMap<string, Wakeable | Set<Wakeable>>();

  function notify(topic: string): void {
    const entry = topics.get(topic);
    if (entry instanceof Set) for (const subscriber of entry) subscriber.wake();
    else entry?.wake();
  }

  return {
    notify,
    notifyAll() {
      for (const topic of [...topics.keys()]) notify(topic);
    },
    subscribe(topic, subscriber) {
      const entry = topics.get(topic);
      if (entry === undefined) topics.set(topic, subscriber);
      else if (entry instanceof Set) entry.add(subscriber);
      else topics.set(topic, new Set([entry, subscriber]));
    },
    unsubscribe(topic, subscriber) {
      const entry = topics.get(topic);
      if (entry === subscriber) topics.delete(topic);
      else if (entry instanceof Set && entry.delete(subscriber) && entry.size === 0) topics.delete(topic);
    },
  };
}
