/** Recorded steps: each is executed once, and a run that is repeated after a crash gets the recorded result. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { StepScope } from "../../agent/context.ts";
import { isObject, type Json } from "../../lib/json.ts";
import { LIMITS, type StepKey, type StepRecord } from "../../model/index.ts";
import type { Turn } from "../../ports/index.ts";
import { describeValue } from "../shared/describe-value.ts";

export class StepRecorder {
  readonly #turn: Turn;
  readonly #counts = new Map<string, number>();
  /** The name of the enclosing step: values inside a step are part of its result and are not recorded separately. */
  readonly #inside = new AsyncLocalStorage<string>();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  readonly step = async <T>(name: string, work: (scope: StepScope) => T | Promise<T>): Promise<T> => {
    const turn = this.#turn;
    this.#check(name, work);
    const key = this.#nextKey("step", name);
    const recorded = await turn.findStep(key);
    if (recorded) return toOutcome(recorded) as T;
    // A step that starts after the abort could be recorded although earlier ones are not.
    turn.signal.throwIfAborted();
    try {
      const value = toResult(name, await this.#inside.run(name, work, { signal: turn.signal }));
      await turn.recordStep({ ...key, value });
      return value as T;
    } catch (error) {
      // The code may catch the error and branch: a repeated run must take the same branch.
      if (!turn.signal.aborted)
        await turn.recordStep({ ...key, value: toThrown(error), threw: true }).catch(() => {});
      throw error;
    }
  };

  readonly sleep = async (ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> => {
    if (!Number.isFinite(ms) || ms < 0)
      throw new TypeError(`ctx.sleep takes a non-negative number of milliseconds, got ${describeValue(ms)}`);
    const endsAt = await this.#recorded("sleep", `${ms}`, () => this.#turn.now() + ms);
    const { signal } = this.#turn;
    // A clock that was set back must not prolong the sleep.
    const leftMs = Math.min(endsAt - this.#turn.now(), ms);
    const until = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
    // Rejects when the run is aborted; the next attempt sleeps for the rest.
    if (leftMs > 0) await this.#turn.wait(leftMs, until, this.#inside.getStore() !== undefined);
  };

  readonly now = (): Promise<number> => this.#recorded("now", "", () => this.#turn.now());
  readonly random = (): Promise<number> => this.#recorded("random", "", () => this.#turn.random());

  #check(name: string, work: unknown): void {
    if (typeof name !== "string" || name === "" || name.length > LIMITS.idCharsMax)
      throw new TypeError(
        `ctx.step needs a name of 1 to ${LIMITS.idCharsMax} characters: ctx.step("load", () => …), got ${describeValue(name)}`,
      );
    if (typeof work !== "function")
      throw new TypeError(`ctx.step("${name}", …) needs a function, got ${describeValue(work)}`);
    const outer = this.#inside.getStore();
    if (outer !== undefined)
      throw new TypeError(
        `The step "${name}" was started inside the step "${outer}": steps cannot be nested, run them one after the other`,
      );
  }

  async #recorded(kind: StepKey["kind"], name: string, create: () => number): Promise<number> {
    if (this.#inside.getStore() !== undefined) return create();
    const key = this.#nextKey(kind, name);
    const recorded = await this.#turn.findStep(key);
    if (recorded) return recorded.value as number;
    const value = create();
    await this.#turn.recordStep({ ...key, value });
    return value;
  }

  #nextKey(kind: StepKey["kind"], name: string): StepKey {
    const id = `${kind} ${name}`;
    const nth = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, nth);
    return { kind, name, nth };
  }
}

/** A copy, so that the first attempt gets exactly the value that later attempts read from the record. */
function toResult(name: string, value: unknown): Json {
  const fail = (where: string, what: string): never => {
    throw new TypeError(
      `The result of the step "${name}" must be JSON, but ${where} is ${what}; return strings, numbers, booleans, null, arrays and plain objects`,
    );
  };
  const copy = (one: unknown, where: string, levels: number): Json => {
    if (one === null || typeof one === "string" || typeof one === "boolean") return one;
    if (typeof one === "number") return Number.isFinite(one) ? one : fail(where, String(one));
    if (typeof one !== "object") return fail(where, describeValue(one));
    if (levels === 0) return fail(where, `nested more than ${LIMITS.jsonDepthMax} levels deep`);
    if (Array.isArray(one)) return one.map((inner, i) => copy(inner, `${where}[${i}]`, levels - 1));
    if (!isPlain(one)) return fail(where, `an object of the class ${one.constructor?.name}`);
    const members = Object.entries(one).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(
      members.map(([key, inner]) => [key, copy(inner, `${where}.${key}`, levels - 1)]),
    );
  };
  return value === undefined ? null : copy(value, "result", LIMITS.jsonDepthMax);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const MESSAGE_CHARS_MAX = 10_000;

function toThrown(error: unknown): Json {
  if (!(error instanceof Error)) return { name: "Error", message: describeValue(error) };
  const { name, message, code } = error as Error & { readonly code?: unknown };
  const details = typeof code === "string" || typeof code === "number" ? { code } : {};
  return { name: String(name), message: String(message).slice(0, MESSAGE_CHARS_MAX), ...details };
}

function toOutcome({ value, threw }: StepRecord): Json {
  if (!threw) return value;
  const { message, ...rest } = isObject(value) ? value : { message: value };
  throw Object.assign(new Error(String(message)), rest);
}
