import { LIMITS, type StepKey, type StepRecord } from "../../model/index.ts";

/** The agent no longer does what earlier attempts of the turn did: its author must hear of it. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

interface Waiting {
  readonly place: StepKey;
  resolve(nothing: null): void;
  reject(error: unknown): void;
}

/**
 * What earlier attempts of a turn noted. Each note is found once. A step that is not on record must not be begun as long
 * as steps on record are left: in code that is as it was, work beside it will ask for them; in code that was changed,
 * nobody does, and to go on would mix old and new work.
 */
export class Notes {
  readonly #notes = new Map<string, StepRecord>();
  readonly #waiting = new Set<Waiting>();
  #steps = 0;
  /** What they weigh together. */
  bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #refusal: unknown;
  /** Why the attempt cannot go on. */
  mismatch: Mismatch | undefined;

  /** Some step on record was not begun again. */
  get isBehind(): boolean {
    return this.#steps > 0;
  }

  get isEmpty(): boolean {
    return this.#notes.size === 0;
  }

  add(note: StepRecord): void {
    const key = keyOf(note);
    if (note.kind === "step" && !this.#notes.has(key)) this.#steps += 1;
    this.#notes.set(key, note);
    this.bytes += JSON.stringify(note.value).length;
  }

  clear(): void {
    this.#notes.clear();
    this.#steps = this.bytes = 0;
  }

  recall(place: StepKey): Promise<StepRecord | null> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    const key = keyOf(place);
    const note = this.#notes.get(key);
    if (!note && place.kind === "step" && this.isBehind) return this.#wait(place);
    if (!note) return Promise.resolve(null);
    this.#notes.delete(key);
    if (note.kind === "step") this.#found();
    return Promise.resolve(note);
  }

  /** The attempt comes to a good end, or begins to say something else: now nothing may be left. */
  check(instead: string): void {
    if (this.isBehind) throw this.#break(instead);
  }

  /** Nothing is found any more. */
  close(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#refusal ??= reason;
    for (const one of this.#waiting) one.reject(this.#refusal);
    this.#waiting.clear();
  }

  #wait(place: StepKey): Promise<null> {
    const { promise, resolve, reject } = Promise.withResolvers<null>();
    this.#waiting.add({ place, resolve, reject });
    this.#beginPatience();
    return promise;
  }

  #found(): void {
    this.#steps -= 1;
    if (this.isBehind) return this.#beginPatience();
    clearTimeout(this.#timer);
    for (const one of this.#waiting) one.resolve(null);
    this.#waiting.clear();
  }

  /** As long as steps are found there is more to come. */
  #beginPatience(): void {
    clearTimeout(this.#timer);
    const [first] = this.#waiting;
    if (!first) return;
    this.#timer = setTimeout(() => this.#break(`it began ${describe(first.place)}`), LIMITS.stepWaitMs);
    this.#timer.unref();
  }

  #break(instead: string): Mismatch {
    const left = [...this.#notes.values()].find(note => note.kind === "step") as StepRecord;
    this.mismatch ??= new Mismatch(
      `An earlier attempt of this turn did ${describe(left)}. This one did not; instead ${instead}. ` +
        "Was the agent's code changed, or does what it does depend on something that is not in a step?",
    );
    this.close(this.mismatch);
    return this.mismatch;
  }
}

const keyOf = ({ kind, name, nth }: StepKey): string => `${kind} ${nth} ${name}`;

const describe = ({ name, nth }: StepKey): string =>
  nth === 1 ? `the step "${name}"` : `the step "${name}" (number ${nth} of that name)`;
