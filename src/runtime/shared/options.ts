/** Checks the options of the runtimes before an agent is served. */
import { type AgentDefinition, definitionError } from "../../agent/definition.ts";
import { didYouMean } from "../../lib/did-you-mean.ts";
import { describeValue } from "./describe-value.ts";

/** The options that every runtime takes: those of a definition that do not depend on its `run`. */
export type CommonOptions = Omit<AgentDefinition, "run" | "graph" | "input" | "output">;

const COMMON_OPTIONS: Readonly<Record<keyof CommonOptions, true>> = {
  name: true,
  description: true,
  version: true,
  skills: true,
  inputModes: true,
  outputModes: true,
  provider: true,
  documentationUrl: true,
  iconUrl: true,
  extensions: true,
  streaming: true,
  push: true,
  inputSchema: true,
  outputSchema: true,
  replies: true,
  onCrash: true,
  attempts: true,
  turns: true,
  acceptsWhileWorking: true,
  contextAnswers: true,
  closeArtifacts: true,
  answerInStatus: true,
  dedupe: true,
  retention: true,
  stateTransitionHistory: true,
  extendedCard: true,
  access: true,
  tenants: true,
};

/** The allowed values of an option. The common options are checked with the definition. */
export interface OptionRule {
  /** For the error message: "expected …". */
  readonly expected: string;
  readonly is: (value: unknown) => boolean;
  readonly required?: true;
}
export type OptionRules<T> = { readonly [K in Exclude<keyof T, keyof CommonOptions>]-?: OptionRule };

/** Throws an error for the author. `factory`: as it is called in code, such as `openai()`. */
export function checkOptions(
  factory: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
): void {
  if (!isRecord(options))
    throw definitionError(`${factory} takes an object with options, got ${describeValue(options)}`);
  const known = [...Object.keys(rules), ...Object.keys(COMMON_OPTIONS)];
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw definitionError(`${factory} has no option "${key}"${didYouMean(key, known)}`);
  for (const [key, { expected, is, required }] of Object.entries(rules)) {
    const value = options[key];
    if (value === undefined ? required : !is(value))
      throw definitionError(`${factory}: ${key}: expected ${expected}, got ${describeValue(value)}`);
  }
}

export function pickCommonOptions(options: CommonOptions): CommonOptions {
  const common = Object.entries(options).filter(([key]) => Object.hasOwn(COMMON_OPTIONS, key));
  return Object.fromEntries(common) as unknown as CommonOptions;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isString = (value: unknown): value is string => typeof value === "string";
const isNonEmpty = (value: unknown): value is string => isString(value) && value !== "";

export const RULES = {
  string: { expected: "a string", is: isNonEmpty },
  stringOrEmpty: { expected: "a string", is: isString },
  boolean: { expected: "true or false", is: (value: unknown) => typeof value === "boolean" },
  stringRecord: {
    expected: "an object of strings",
    is: (value: unknown) => isRecord(value) && Object.values(value).every(isString),
  },
  stringList: {
    expected: "an array of strings",
    is: (value: unknown) => Array.isArray(value) && value.every(isNonEmpty),
  },
  object: { expected: "an object", is: isRecord },
  function: { expected: "a function", is: (value: unknown) => typeof value === "function" },
} as const satisfies Record<string, OptionRule>;

export const integer = (min: number, max: number): OptionRule => ({
  expected: `a whole number from ${min} to ${max}`,
  is: value => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
});
/** At most the range of `setTimeout`. */
export const milliseconds = (min: number): OptionRule => integer(min, 2 ** 31 - 1);
export const httpUrl = (example: string): OptionRule => ({
  expected: `a URL, such as "${example}"`,
  is: value => isString(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
});
export const required = (rule: OptionRule): OptionRule => ({ ...rule, required: true });
