export interface BatcherParts<K, V> {
  /** Loads the values of several keys; keys without a value are left out. */
  readonly load: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>;
  /** Keys in one call of `load`. */
  readonly batchMax: number;
  /** Calls of `load` at the same time. */
  readonly concurrencyMax: number;
}

/**
 * Combines single lookups into batches. A value is never older than its lookup: a lookup that arrives while its key is
 * being loaded waits for the next batch.
 */
export function createBatcher<K, V>(parts: BatcherParts<K, V>): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, PromiseWithResolvers<V | undefined>>();
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= parts.concurrencyMax) return;
    isScheduled = true;
    // All lookups of one turn of the event loop share a batch.
    setImmediate(() => {
      isScheduled = false;
      void loadAll();
    });
  }

  async function loadAll(): Promise<void> {
    running += 1;
    while (waiting.size > 0) await loadBatch(takeBatch());
    running -= 1;
  }

  function takeBatch(): typeof waiting {
    const batch: typeof waiting = new Map();
    for (const [key, lookup] of waiting) {
      if (batch.size === parts.batchMax) break;
      batch.set(key, lookup);
      waiting.delete(key);
    }
    return batch;
  }

  async function loadBatch(batch: typeof waiting): Promise<void> {
    try {
      const values = await parts.load([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(values.get(key));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  return key => {
    const lookup = waiting.get(key) ?? Promise.withResolvers<V | undefined>();
    waiting.set(key, lookup);
    schedule();
    return lookup.promise;
  };
}
