/** Whoever can be woken. */
export interface Wakeable {
  wake(): void;
}

/** Waits for a ring. Latches: a ring between two waits is kept, so that nothing falls between a look and a wait. */
export class Latch implements Wakeable {
  #latched = false;
  #waiting: (() => void) | null = null;

  /** Resolves at the next ring, or at once if there was one since the last wait. */
  wait(): Promise<void> {
    if (!this.#latched) return new Promise(resolve => (this.#waiting = resolve));
    this.#latched = false;
    return Promise.resolve();
  }

  wake(): void {
    const resolve = this.#waiting;
    this.#waiting = null;
    if (resolve) resolve();
    else this.#latched = true;
  }
}
