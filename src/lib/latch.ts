export interface Wakeable {
  wake(): void;
}

/** Waits to be woken. A `wake` between two waits is remembered, so that none is lost between a check and a wait. */
export class Latch implements Wakeable {
  #isWoken = false;
  #resolve: (() => void) | null = null;

  /** Resolves at the next `wake`, or at once if there was one since the last wait. */
  wait(): Promise<void> {
    if (!this.#isWoken) return new Promise(resolve => (this.#resolve = resolve));
    this.#isWoken = false;
    return Promise.resolve();
  }

  wake(): void {
    const resolve = this.#resolve;
    this.#resolve = null;
    if (resolve) resolve();
    else this.#isWoken = true;
  }
}
