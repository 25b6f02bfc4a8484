/** Deletions before the entries are copied to a new map; fewer than V8 makes between two minor collections. */
const DELETIONS_MAX = 256;

/**
 * A map for entries that come and go all the time, in order of insertion. A `Map` under such a load rehashes itself again
 * and again, and V8's minor collector reaches the old tables through the new one, keeps them, and copies nearly everything.
 * So the entries are copied to a new map from time to time, and no reference leads from the old one to it (decision 0022).
 */
export class ChurnMap<Key, Value> {
  #new = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  #deletionsLeft = DELETIONS_MAX;

  get size(): number {
    return this.#new.size + this.#old.size;
  }

  get(key: Key): Value | undefined {
    return this.#new.get(key) ?? (this.#old.size > 0 ? this.#old.get(key) : undefined);
  }

  has(key: Key): boolean {
    return this.#new.has(key) || this.#old.has(key);
  }

  /** A key that is there already keeps its position. */
  set(key: Key, value: Value): void {
    if (this.#deletionsLeft <= 0) this.#copy();
    (this.#old.has(key) ? this.#old : this.#new).set(key, value);
  }

  /** Whether the key was there. */
  delete(key: Key): boolean {
    const existed = this.#new.delete(key) || this.#old.delete(key);
    if (existed) this.#deletionsLeft -= 1;
    return existed;
  }

  /** The oldest value. */
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

  /** Allocates nothing per entry: for callers that visit all entries often. */
  forEach(visit: (value: Value) => void): void {
    this.#old.forEach(visit);
    this.#new.forEach(visit);
  }

  *[Symbol.iterator](): Generator<[Key, Value]> {
    yield* this.#old;
    yield* this.#new;
  }

  /** A long-lived entry is copied once per as many deletions as there are entries. */
  #copy(): void {
    if (this.#old.size > 0) for (const [key, value] of this.#new) this.#old.set(key, value);
    this.#old = new Map(this.#old.size > 0 ? this.#old : this.#new);
    this.#new = new Map();
    this.#deletionsLeft = Math.max(DELETIONS_MAX, this.#old.size);
  }
}
