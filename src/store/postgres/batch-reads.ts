export interface GatherParts<K, V> {
  /** Answers questions at once; those that it leaves out have no answer. */
  readonly ask: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>;
  /** Questions that are asked together. */
  readonly keysMax: number;
  /** So many times at once. */
  readonly atOnceMax: number;
}

/**
 * Asks together what is asked one by one. An answer is never older than its question: who asks while an answer is on its
 * way gets the next one.
 */
export function createGather<K, V>(parts: GatherParts<K, V>): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, PromiseWithResolvers<V | undefined>>();
  let atOnce = 0;
  let gathering = false;

  function begin(): void {
    if (gathering || atOnce >= parts.atOnceMax) return;
    gathering = true;
    // All questions of one turn of the event loop go together.
    setImmediate(() => {
      gathering = false;
      void work();
    });
  }

  async function work(): Promise<void> {
    atOnce += 1;
    while (waiting.size > 0) await answer(take());
    atOnce -= 1;
  }

  function take(): ReadonlyMap<K, PromiseWithResolvers<V | undefined>> {
    const taken: typeof waiting = new Map();
    for (const [key, asked] of waiting) {
      if (taken.size === parts.keysMax) break;
      taken.set(key, asked);
      waiting.delete(key);
    }
    return taken;
  }

  async function answer(asked: ReadonlyMap<K, PromiseWithResolvers<V | undefined>>): Promise<void> {
    try {
      const answers = await parts.ask([...asked.keys()]);
      for (const [key, { resolve }] of asked) resolve(answers.get(key));
    } catch (error) {
      for (const { reject } of asked.values()) reject(error);
    }
  }

  return key => {
    const found = waiting.get(key) ?? Promise.withResolvers<V | undefined>();
    waiting.set(key, found);
    begin();
    return found.promise;
  };
}
