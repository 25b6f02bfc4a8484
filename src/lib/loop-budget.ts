interface Waiting {
  readonly units: number;
  readonly begin: () => void;
}

/**
 * Limits deferrable work per turn of the event loop, for all readers that catch up with long logs together. Work beyond the
 * budget waits for the next turns, first in first out, so that other work runs in between.
 */
export class LoopBudget {
  readonly #unitsPerTurn: number;
  #left: number;
  #waiting: Waiting[] = [];
  #isRenewalDue = false;

  constructor(unitsPerTurn: number) {
    this.#unitsPerTurn = unitsPerTurn;
    this.#left = unitsPerTurn;
  }

  /** Asks for so much work, counted in events; undefined: it may be done at once, else when the promise resolves. */
  take(units: number): Promise<void> | undefined {
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#spend(units);
      return undefined;
    }
    return new Promise(begin => void this.#waiting.push({ units, begin }));
  }

  #spend(units: number): void {
    this.#left -= units;
    if (this.#isRenewalDue) return;
    this.#isRenewalDue = true;
    setImmediate(this.#renew);
  }

  readonly #renew = (): void => {
    this.#left = this.#unitsPerTurn;
    this.#isRenewalDue = false;
    let count = 0;
    for (; this.#left > 0 && count < this.#waiting.length; count++) {
      const { units, begin } = this.#waiting[count] as Waiting;
      this.#spend(units);
      begin();
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count);
  };
}
