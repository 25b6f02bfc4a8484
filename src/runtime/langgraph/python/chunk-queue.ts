/** What a process has sent and its reader has not read yet. */
export class ChunkQueue<T> {
  #chunks: T[] = [];
  #changed = Promise.withResolvers<void>();
  #end: { readonly error: unknown } | undefined;

  push(chunk: T): void {
    this.#chunks.push(chunk);
    this.#changed.resolve();
  }

  /** `error`: thrown after the last chunk. */
  end(error?: unknown): void {
    this.#end = { error };
    this.#changed.resolve();
  }

  /** `onStop` is called when the reader stops before the end. */
  async *read(onStop: () => void): AsyncGenerator<T> {
    try {
      for (;;) {
        const chunks = this.#chunks;
        this.#chunks = [];
        yield* chunks;
        if (this.#chunks.length > 0) continue;
        if (this.#end) {
          if (this.#end.error !== undefined) throw this.#end.error;
          return;
        }
        await this.#changed.promise;
        this.#changed = Promise.withResolvers<void>();
      }
    } finally {
      if (!this.#end) onStop();
    }
  }
}
