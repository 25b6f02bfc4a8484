import { LIMITS, type StepKey, type StepRecord } from "../../model/index.ts";

/** The agent no longer does what earlier attempts of the turn did: an error for its author. */
export class ReplayMismatch extends Error {
  override readonly name = "ReplayMismatch";
}

interface Waiting {
  readonly key: StepKey;
  resolve(nothing: null): void;
  reject(error: unknown): void;
}

/**
 * The steps that earlier attempts of a turn recorded. Each is found once. A step that is not on record must not begin while
 * recorded steps are left: if the code is the same, concurrent code will ask for them; if it was changed, none does, and
 * continuing would mix old and new work.
 */
export class RecordedSteps {
  readonly #records = new Map<string, StepRecord>();
  readonly #waiting = new Set<Waiting>();
  /** Records of the kind "step" that were not found yet. */
  #left = 0;
  /** The size of all results. */
  bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #closeReason: unknown;
  /** Why the attempt cannot continue. */
  mismatch: ReplayMismatch | undefined;

  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  add(record: StepRecord): void {
    const name = nameOf(record);
    if (record.kind === "step" && !this.#records.has(name)) this.#left += 1;
    this.#records.set(name, record);
    this.bytes += JSON.stringify(record.value).length;
  }

  clear(): void {
    this.#records.clear();
    this.#left = this.bytes = 0;
  }

  /** null: not on record. A new step waits until all recorded ones were found. */
  find(key: StepKey): Promise<StepRecord | null> {
    if (this.#closeReason) return Promise.reject(this.#closeReason);
    const name = nameOf(key);
    const record = this.#records.get(name);
    if (!record && key.kind === "step" && this.#left > 0) return this.#wait(key);
    if (!record) return Promise.resolve(null);
    this.#records.delete(name);
    if (record.kind === "step") this.#onFound();
    return Promise.resolve(record);
  }

  /** Called when the attempt ends or emits different output: then no recorded step may be left. */
  check(instead: string): void {
    if (this.#left > 0) throw this.#fail(instead);
  }

  /** Rejects all further lookups. */
  close(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#closeReason ??= reason;
    for (const one of this.#waiting) one.reject(this.#closeReason);
    this.#waiting.clear();
  }

  #wait(key: StepKey): Promise<null> {
    const { promise, resolve, reject } = Promise.withResolvers<null>();
    this.#waiting.add({ key, resolve, reject });
    this.#startTimer();
    return promise;
  }

  #onFound(): void {
    this.#left -= 1;
    if (this.#left > 0) return this.#startTimer();
    clearTimeout(this.#timer);
    for (const one of this.#waiting) one.resolve(null);
    this.#waiting.clear();
  }

  /** Restarted whenever a step is found: more may follow. */
  #startTimer(): void {
    clearTimeout(this.#timer);
    const [first] = this.#waiting;
    if (!first) return;
    this.#timer = setTimeout(() => this.#fail(`it began ${describe(first.key)}`), LIMITS.stepWaitMs);
    this.#timer.unref();
  }

  #fail(instead: string): ReplayMismatch {
    const left = [...this.#records.values()].find(record => record.kind === "step") as StepRecord;
    this.mismatch ??= new ReplayMismatch(
      `An earlier attempt of this turn did ${describe(left)}. This one did not; instead ${instead}. ` +
        "Was the agent's code changed, or does its control flow depend on a value that is not recorded in a step?",
    );
    this.close(this.mismatch);
    return this.mismatch;
  }
}

const nameOf = ({ kind, name, nth }: StepKey): string => `${kind} ${nth} ${name}`;

const describe = ({ name, nth }: StepKey): string =>
  nth === 1 ? `the step "${name}"` : `the step "${name}" (number ${nth} of that name)`;
