import { isObject, type Json, type JsonObject } from "../lib/json.ts";

/** Members below this depth are listed with the member that contains them. */
const DEPTH_MAX = 4;

/**
 * The members of a document. Each member that is used is taken; those that are left, and those that have
 * another type than expected, are listed by `rest`, so that none is lost without a word.
 */
export class Members {
  readonly #root: JsonObject;
  readonly #taken = new Set<string>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  text(...path: readonly string[]): string | undefined {
    return this.#take(path, value => typeof value === "string" && value !== "") as string | undefined;
  }

  number(...path: readonly string[]): number | undefined {
    return this.#take(path, value => typeof value === "number") as number | undefined;
  }

  /** A number, or a text that is one. */
  numeric(...path: readonly string[]): number | undefined {
    const value = this.#take(path, one => one !== "" && Number.isFinite(Number(one ?? Number.NaN)));
    return value === undefined ? undefined : Number(value);
  }

  boolean(...path: readonly string[]): boolean | undefined {
    return this.#take(path, value => typeof value === "boolean") as boolean | undefined;
  }

  list(...path: readonly string[]): readonly Json[] | undefined {
    return this.#take(path, Array.isArray) as readonly Json[] | undefined;
  }

  texts(...path: readonly string[]): readonly string[] | undefined {
    const isTexts = (value: Json): boolean =>
      Array.isArray(value) && value.every(one => typeof one === "string");
    return this.#take(path, isTexts) as readonly string[] | undefined;
  }

  object(...path: readonly string[]): JsonObject | undefined {
    return this.#take(path, isObject) as JsonObject | undefined;
  }

  /** Any value; undefined: there is none. */
  any(...path: readonly string[]): Json | undefined {
    return this.#take(path, () => true);
  }

  /** The members that were not taken, as paths such as `limits.timeout`. Empty ones say nothing. */
  rest(): readonly string[] {
    return [...this.#leaves(this.#root, [])];
  }

  #take(path: readonly string[], isRight: (value: Json) => boolean): Json | undefined {
    let value: Json | undefined = this.#root;
    for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (value === undefined || !isRight(value)) return undefined;
    this.#taken.add(JSON.stringify(path));
    return value;
  }

  *#leaves(value: Json, path: readonly string[]): Generator<string> {
    if (this.#taken.has(JSON.stringify(path)) || isEmpty(value)) return;
    if (!isObject(value) || path.length === DEPTH_MAX) yield path.join(".");
    else for (const [name, member] of Object.entries(value)) yield* this.#leaves(member, [...path, name]);
  }
}

const isEmpty = (value: Json): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
