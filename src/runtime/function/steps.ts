/** What a function wants to find again if it has to begin anew: each thing is done once, and its result is on record. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { StepScope } from "../../agent/definition.ts";
import { isObject, type Json } from "../../lib/json.ts";
import { LIMITS, type StepKey, type StepRecord } from "../../model/index.ts";
import type { Turn } from "../../ports/index.ts";
import { describe } from "./content.ts";

/** What a timer takes at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Steps {
  readonly #turn: Turn;
  readonly #begun = new Map<string, number>();
  /** The step that code is in: what it does there is part of the step's result, and not on record by itself. */
  readonly #inside = new AsyncLocalStorage<string>();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  readonly step = async <T>(name: string, work: (scope: StepScope) => T | Promise<T>): Promise<T> => {
    const turn = this.#turn;
    this.#check(name, work);
    const place = this.#place("step", name);
    const known = await turn.findStep(place);
    if (known) return toOutcome(known) as T;
    // What is begun after the run was told to stop would be on record, but not what came before it.
    turn.signal.throwIfAborted();
    try {
      const value = toResult(name, await this.#inside.run(name, work, { signal: turn.signal }));
      await turn.recordStep({ ...place, value });
      return value as T;
    } catch (error) {
      // The code may catch it and take another way: it must take the same one when it begins anew.
      if (!turn.signal.aborted)
        await turn.recordStep({ ...place, value: toThrown(error), threw: true }).catch(() => {});
      throw error;
    }
  };

  readonly sleep = async (ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> => {
    if (!Number.isFinite(ms) || ms < 0)
      throw new TypeError(`ctx.sleep takes milliseconds from 0 on, got ${describe(ms)}`);
    const until = await this.#noted("sleep", `${ms}`, () => this.#turn.now() + ms);
    const { signal } = this.#turn;
    // A clock that was set back since must not make it longer.
    const leftMs = Math.min(until - this.#turn.now(), ms);
    await wait(leftMs, options.signal ? AbortSignal.any([signal, options.signal]) : signal);
  };

  readonly now = (): Promise<number> => this.#noted("now", "", () => this.#turn.now());
  readonly random = (): Promise<number> => this.#noted("random", "", () => this.#turn.random());

  #check(name: string, work: unknown): void {
    if (typeof name !== "string" || name === "" || name.length > LIMITS.idCharsMax)
      throw new TypeError(
        `ctx.step needs a name of 1 to ${LIMITS.idCharsMax} characters: ctx.step("load", () => …), got ${describe(name)}`,
      );
    if (typeof work !== "function")
      throw new TypeError(`ctx.step("${name}", …) needs a function, got ${describe(work)}`);
    const outer = this.#inside.getStore();
    if (outer !== undefined)
      throw new TypeError(
        `The step "${name}" was begun inside the step "${outer}": steps do not nest, take one after the other`,
      );
  }

  async #noted(kind: StepKey["kind"], name: string, make: () => number): Promise<number> {
    if (this.#inside.getStore() !== undefined) return make();
    const place = this.#place(kind, name);
    const known = await this.#turn.findStep(place);
    if (known) return known.value as number;
    const value = make();
    await this.#turn.recordStep({ ...place, value });
    return value;
  }

  #place(kind: StepKey["kind"], name: string): StepKey {
    const key = `${kind} ${name}`;
    const nth = (this.#begun.get(key) ?? 0) + 1;
    this.#begun.set(key, nth);
    return { kind, name, nth };
  }
}

/** What the first attempt got, the later ones get: a copy of exactly what is on record. */
function toResult(name: string, value: unknown): Json {
  const wrong = (where: string, what: string): never => {
    throw new TypeError(
      `The result of the step "${name}" is kept as JSON, but ${where} is ${what}; return strings, numbers, booleans, null, arrays and plain objects`,
    );
  };
  const copy = (one: unknown, where: string, levels: number): Json => {
    if (one === null || typeof one === "string" || typeof one === "boolean") return one;
    if (typeof one === "number") return Number.isFinite(one) ? one : wrong(where, String(one));
    if (typeof one !== "object") return wrong(where, describe(one));
    if (levels === 0) return wrong(where, `nested more than ${LIMITS.jsonDepthMax} levels deep`);
    if (Array.isArray(one)) return one.map((inner, i) => copy(inner, `${where}[${i}]`, levels - 1));
    if (!isPlain(one)) return wrong(where, `an object of the class ${one.constructor?.name}`);
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
  if (!(error instanceof Error)) return { name: "Error", message: describe(error) };
  const { name, message, code } = error as Error & { readonly code?: unknown };
  const known = typeof code === "string" || typeof code === "number" ? { code } : {};
  return { name: String(name), message: String(message).slice(0, MESSAGE_CHARS_MAX), ...known };
}

function toOutcome({ value, threw }: StepRecord): Json {
  if (!threw) return value;
  const { message, ...rest } = isObject(value) ? value : { message: value };
  throw Object.assign(new Error(String(message)), rest);
}

/** Rejects when the run is told to stop: the next attempt waits for what is left. */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= TIMER_MS_MAX) await pause(Math.min(left, TIMER_MS_MAX), signal);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
