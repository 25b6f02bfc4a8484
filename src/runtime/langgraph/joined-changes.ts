/** Changes of one turn of the event loop as one transaction, and transactions one after another. */
import type { ContextStorage, StorageChange } from "../../ports/index.ts";

export class JoinedChanges {
  readonly #storage: ContextStorage;
  #changes: StorageChange[] = [];
  /** Stores `#changes`. */
  #next: Promise<void> | undefined;
  /** The transaction before. After one that has failed none is begun: a checkpoint needs the writes before it. */
  #last: Promise<void> = Promise.resolve();

  constructor(storage: ContextStorage) {
    this.#storage = storage;
  }

  /** Resolves after the transaction. */
  put(changes: readonly StorageChange[]): Promise<void> {
    this.#changes.push(...changes);
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<void> {
    await Promise.all([this.#last, new Promise(resolve => void setImmediate(resolve))]);
    const changes = this.#changes;
    this.#changes = [];
    this.#last = this.#next as Promise<void>;
    this.#next = undefined;
    await this.#storage.put(changes);
  }
}
