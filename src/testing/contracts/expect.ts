/** The assertions of the contracts: a small part of those of vitest and Jest, without either. */
import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import { until } from "./contract.ts";

/** Stands for all values that it accepts. */
class Pattern {
  readonly accepts: (value: unknown) => boolean;
  constructor(accepts: (value: unknown) => boolean) {
    this.accepts = accepts;
  }
}

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null;
const membersOf = (value: object): readonly string[] =>
  Object.keys(value).filter(key => (value as Members)[key] !== undefined);

/** Deeply; members that are undefined do not count. `isPart`: `expected` may lack members. */
function isEqual(actual: unknown, expected: unknown, isPart: boolean): boolean {
  if (expected instanceof Pattern) return expected.accepts(actual);
  if (Object.is(actual, expected)) return true;
  if (!isMembers(actual) || !isMembers(expected)) return false;
  if (Array.isArray(expected) || Array.isArray(actual)) return isEqualList(actual, expected, isPart);
  if (expected instanceof Map || expected instanceof Set)
    return (
      actual.constructor === expected.constructor && hasSameEntries([...toEntries(actual)], [...expected])
    );
  if (expected instanceof Uint8Array)
    return actual instanceof Uint8Array && isEqualList([...actual], [...expected], false);
  if (expected instanceof Error && actual instanceof Error && actual.message !== expected.message)
    return false;
  const keys = membersOf(expected);
  if (!isPart && keys.length !== membersOf(actual).length) return false;
  return keys.every(key => isEqual(actual[key], expected[key], isPart));
}

const toEntries = (value: object): Iterable<unknown> => value as Iterable<unknown>;

/** In any order. */
const hasSameEntries = (actual: readonly unknown[], expected: readonly unknown[]): boolean =>
  actual.length === expected.length &&
  expected.every(one => actual.some(other => isEqual(other, one, false)));

const isEqualList = (actual: unknown, expected: unknown, isPart: boolean): boolean =>
  Array.isArray(actual) &&
  Array.isArray(expected) &&
  actual.length === expected.length &&
  expected.every((one, i) => isEqual(actual[i], one, isPart));

const isIn = (value: unknown, list: unknown): boolean =>
  typeof list === "string" ? list.includes(String(value)) : [...(list as Iterable<unknown>)].includes(value);

/** Whether a value is as expected. */
const CHECKS = {
  toBe: (actual: unknown, expected: unknown): boolean => Object.is(actual, expected),
  toEqual: (actual: unknown, expected: unknown): boolean => isEqual(actual, expected, false),
  toMatchObject: (actual: unknown, expected: unknown): boolean => isEqual(actual, expected, true),
  toContain: (actual: unknown, expected: unknown): boolean => isIn(expected, actual),
  toBeDefined: (actual: unknown): boolean => actual !== undefined,
  toBeUndefined: (actual: unknown): boolean => actual === undefined,
  toBeNull: (actual: unknown): boolean => actual === null,
  toBeGreaterThan: (actual: unknown, than: number): boolean => (actual as number) > than,
  toBeGreaterThanOrEqual: (actual: unknown, than: number): boolean => (actual as number) >= than,
  toBeLessThan: (actual: unknown, than: number): boolean => (actual as number) < than,
  toBeLessThanOrEqual: (actual: unknown, than: number): boolean => (actual as number) <= than,
  toBeInstanceOf: (actual: unknown, type: new (...args: never) => object): boolean => actual instanceof type,
  toHaveLength: (actual: unknown, length: number): boolean =>
    (actual as { length: number }).length === length,
};

type Checks = typeof CHECKS;
type Assertions<R> = {
  [K in keyof Checks]: Checks[K] extends (actual: unknown, ...rest: infer Rest) => boolean
    ? (...rest: Rest) => R
    : never;
};
type Check = (actual: unknown, ...rest: unknown[]) => boolean;

const toAssertions = <R>(assert: (name: keyof Checks, rest: readonly unknown[]) => R): Assertions<R> =>
  Object.fromEntries(
    Object.keys(CHECKS).map(name => [name, (...rest: unknown[]) => assert(name as keyof Checks, rest)]),
  ) as Assertions<R>;

const holds = (actual: unknown, name: keyof Checks, rest: readonly unknown[]): boolean =>
  (CHECKS[name] as Check)(actual, ...rest);

function fail(
  actual: unknown,
  name: string,
  [expected]: readonly unknown[],
  note: string | undefined,
): never {
  const shown = `expected ${inspect(actual, { depth: 6 })} ${name} ${inspect(expected, { depth: 6 })}`;
  throw new AssertionError({ message: note === undefined ? shown : `${note}: ${shown}`, actual, expected });
}

/** `note`: what the value is, for the error. */
export function expect(actual: unknown, note?: string) {
  const assertThat = (
    value: unknown,
    name: keyof Checks,
    rest: readonly unknown[],
    isNegated: boolean,
  ): void => {
    if (holds(value, name, rest) === isNegated) fail(value, isNegated ? `not ${name}` : name, rest, note);
  };
  return {
    ...toAssertions((name, rest) => assertThat(actual, name, rest, false)),
    not: toAssertions((name, rest) => assertThat(actual, name, rest, true)),
    rejects: {
      ...toAssertions(async (name, rest) =>
        assertThat(await rejectionOf(actual as Promise<unknown>), name, rest, false),
      ),
      async toThrow(text = ""): Promise<void> {
        const error = await rejectionOf(actual as Promise<unknown>);
        assertThat(error instanceof Error ? error.message : error, "toContain", [text], false);
      },
    },
  };
}

async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  const settled = await work.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in settled) return settled.error;
  throw new AssertionError({ message: `expected a rejection, got ${inspect(settled.value)}` });
}

/** Waits until the value is as expected. */
expect.poll = (read: () => unknown) => {
  const wait = (name: keyof Checks, rest: readonly unknown[], isNegated: boolean): Promise<void> =>
    until(async () => holds(await read(), name, rest) !== isNegated);
  return {
    ...toAssertions((name, rest) => wait(name, rest, false)),
    not: toAssertions((name, rest) => wait(name, rest, true)),
  };
};
expect.any = (type: new (...args: never) => object): Pattern =>
  new Pattern(value => Object(value) instanceof type);
expect.stringContaining = (text: string): Pattern =>
  new Pattern(value => typeof value === "string" && value.includes(text));
expect.arrayContaining = (list: readonly unknown[]): Pattern =>
  new Pattern(
    value => Array.isArray(value) && list.every(one => value.some(other => isEqual(other, one, false))),
  );
