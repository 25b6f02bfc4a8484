/** What tests say about tasks: as matchers of vitest and Jest, and as assertions for any other runner. */
import { AssertionError } from "node:assert";
import type { RemoteState } from "../client/types.ts";
import type { TestTask } from "./test-task.ts";

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

type Expected = string | RegExp;

const isMatch = (text: string, expected: Expected): boolean =>
  typeof expected === "string" ? text === expected : expected.test(text);
const show = (expected: Expected): string =>
  typeof expected === "string" ? JSON.stringify(expected) : String(expected);

/** The task in a few words. */
function describe({ id, state, text, statusText, error }: TestTask): string {
  const facts = [
    `is ${state}`,
    `wrote ${JSON.stringify(text)}`,
    ...(statusText ? [`says ${JSON.stringify(statusText)}`] : []),
    ...(error ? [`failed with ${JSON.stringify(error)}`] : []),
  ];
  return `the task ${id} ${facts.join(", ")}`;
}

const result = (task: TestTask, pass: boolean, expected: string): MatcherResult => ({
  pass,
  message: () => `expected the task ${pass ? "not " : ""}${expected}; ${describe(task)}`,
});

/** For `expect.extend` of vitest and Jest. */
export const taskMatchers = {
  toBeInState: (task: TestTask, state: RemoteState): MatcherResult =>
    result(task, task.state === state, `to be ${state}`),
  /** It is completed; with this text, if one is given. */
  toComplete: (task: TestTask, text?: Expected): MatcherResult =>
    result(
      task,
      task.state === "completed" && (text === undefined || isMatch(task.text, text)),
      text === undefined ? "to be completed" : `to be completed with ${show(text)}`,
    ),
  /** It waits for its caller; with this question, if one is given. */
  toAsk: (task: TestTask, question?: Expected): MatcherResult =>
    result(
      task,
      task.state === "input-required" && (question === undefined || isMatch(task.statusText, question)),
      question === undefined ? "to ask its caller" : `to ask ${show(question)}`,
    ),
  /** It failed; with this text for its caller, or with this error in the log. */
  toFail: (task: TestTask, reason?: Expected): MatcherResult =>
    result(
      task,
      task.state === "failed" &&
        (reason === undefined || isMatch(task.statusText, reason) || isMatch(task.error ?? "", reason)),
      reason === undefined ? "to fail" : `to fail with ${show(reason)}`,
    ),
  /** Its steps were executed and recorded, each once and in this order. */
  toHaveSteps(task: TestTask, names: readonly string[]): MatcherResult {
    const steps = task.steps.flatMap(({ kind, name }) => (kind === "step" ? [name] : []));
    const pass = JSON.stringify(steps) === JSON.stringify(names);
    return result(task, pass, `to have the steps ${names.join(", ")}; it has ${steps.join(", ") || "none"}`);
  },
  /** So many runs of it began. */
  toHaveAttempts: (task: TestTask, count: number): MatcherResult =>
    result(task, task.attempts === count, `to have ${count} attempts, it has ${task.attempts}`),
};

type TaskMatcherTable = typeof taskMatchers;
/** The matchers as methods; vitest: `declare module "vitest" { interface Assertion<T> extends TaskMatchers {} }`. */
export type TaskMatchers<R = void> = {
  [K in keyof TaskMatcherTable]: TaskMatcherTable[K] extends (task: TestTask, ...rest: infer Rest) => unknown
    ? (...rest: Rest) => R
    : never;
};

/** The same for node:test and others: `assertTask(task).toComplete("Hello")`; throws an AssertionError. */
export function assertTask(task: TestTask): TaskMatchers<void> {
  const entries = Object.entries(taskMatchers).map(([name, match]) => [
    name,
    (...expected: unknown[]): void => {
      const { pass, message } = (match as (task: TestTask, ...rest: unknown[]) => MatcherResult)(
        task,
        ...expected,
      );
      if (!pass) throw new AssertionError({ message: message() });
    },
  ]);
  return Object.fromEntries(entries) as TaskMatchers<void>;
}
