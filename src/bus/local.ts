import { Roll } from "../model/index.ts";
import type { Bus } from "../ports.ts";

type Heard = () => void;

export interface LocalBus extends Bus {
  /** Rings for everybody who listens. */
  ringAll(): void;
}

/** A bus inside one process. It cannot lose a ring. */
export function createLocalBus(): LocalBus {
  /** Most topics have one listener: it stands here by itself. */
  const topics = new Roll<string, Heard | Set<Heard>>();

  function forget(topic: string, heard: Heard): void {
    const there = topics.get(topic);
    if (there === heard) topics.delete(topic);
    else if (there instanceof Set && there.delete(heard) && there.size === 0) topics.delete(topic);
  }

  function ring(topic: string): void {
    const there = topics.get(topic);
    if (typeof there === "function") there();
    else if (there) for (const heard of there) heard();
  }

  return {
    ring,
    ringAll() {
      for (const topic of [...topics.keys()]) ring(topic);
    },
    listen(topic, heard) {
      const there = topics.get(topic);
      if (there === undefined) topics.set(topic, heard);
      else if (there instanceof Set) there.add(heard);
      else topics.set(topic, new Set([there, heard]));
      return () => forget(topic, heard);
    },
  };
}
