/** So many go before the entries move on; fewer than V8 makes between two small collections. */
const TURN = 256;

/**
 * A map for what comes and goes all the time, in order of arrival. A `Map` under such a load makes itself anew again and
 * again, and what was in it before is found, through it, by the collector of young objects, which then keeps and copies
 * nearly everything. So the entries move to a new map now and then, and nothing leads from the old one to it (decision 0022).
 */
export class ChurnMap<Key, Value> {
  #new = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  #left = TURN;

  get size(): number {
    return this.#new.size + this.#old.size;
  }

  get(key: Key): Value | undefined {
    return this.#new.get(key) ?? (this.#old.size > 0 ? this.#old.get(key) : undefined);
  }

  has(key: Key): boolean {
    return this.#new.has(key) || this.#old.has(key);
  }

  /** What is there already keeps its place. */
  set(key: Key, value: Value): void {
    if (this.#left <= 0) this.#turn();
    (this.#old.has(key) ? this.#old : this.#new).set(key, value);
  }

  /** Whether it was there. */
  delete(key: Key): boolean {
    const was = this.#new.delete(key) || this.#old.delete(key);
    if (was) this.#left -= 1;
    return was;
  }

  /** The one that has been there longest. */
  first(): Value | undefined {
    return (this.#old.size > 0 ? this.#old : this.#new).values().next().value;
  }

  *keys(): Generator<Key> {
    yield* this.#old.keys();
    yield* this.#new.keys();
  }

  *values(): Generator<Value> {
    yield* this.#old.values();
    yield* this.#new.values();
  }

  /** Makes nothing for each of them: for those who look at all of them often. */
  forEach(look: (value: Value) => void): void {
    this.#old.forEach(look);
    this.#new.forEach(look);
  }

  *[Symbol.iterator](): Generator<[Key, Value]> {
    yield* this.#old;
    yield* this.#new;
  }

  /** Those that stay long are moved as often as so many others have gone. */
  #turn(): void {
    if (this.#old.size > 0) for (const [key, value] of this.#new) this.#old.set(key, value);
    this.#old = new Map(this.#old.size > 0 ? this.#old : this.#new);
    this.#new = new Map();
    this.#left = Math.max(TURN, this.#old.size);
  }
}
