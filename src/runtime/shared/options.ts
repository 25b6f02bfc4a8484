/** The options of those who make agents of things that are not functions: checked before anything is served. */
import type { AgentDefinition } from "../../agent/definition.ts";
import { hint } from "../../lib/did-you-mean.ts";
import { describe } from "../function/content.ts";

/** What each of them takes besides its own: all that a definition says of an agent, but not what it does. */
export type Described = Omit<AgentDefinition, "run">;

const DESCRIBED: Readonly<Record<keyof Described, true>> = {
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
  replies: true,
  onCrash: true,
  attempts: true,
  turns: true,
  acceptsWhileWorking: true,
  dedupe: true,
  retention: true,
  stateTransitionHistory: true,
  extendedCard: true,
  access: true,
  tenants: true,
};

/** What an option may be. What a definition says is checked with the definition. */
export interface Rule {
  /** For errors: "expected …". */
  readonly expected: string;
  readonly is: (value: unknown) => boolean;
  readonly needed?: true;
}
export type Rules<T> = { readonly [K in Exclude<keyof T, keyof Described>]-?: Rule };

/** Throws what is wrong, in words for whoever wrote it. `maker`: as it is written there, such as `openai()`. */
export function checkOptions(maker: string, given: unknown, rules: Readonly<Record<string, Rule>>): void {
  if (!isRecord(given)) throw wrong(`${maker} takes an object with options, got ${describe(given)}`);
  const known = [...Object.keys(rules), ...Object.keys(DESCRIBED)];
  for (const key of Object.keys(given))
    if (!known.includes(key)) throw wrong(`${maker} has no option "${key}"${hint(key, known)}`);
  for (const [key, { expected, is, needed }] of Object.entries(rules)) {
    const value = given[key];
    if (value === undefined ? needed : !is(value))
      throw wrong(`${maker}: ${key}: expected ${expected}, got ${describe(value)}`);
  }
}

/** What of the options is said of the agent. */
export function describedIn(options: Described): Described {
  const said = Object.entries(options).filter(([key]) => Object.hasOwn(DESCRIBED, key));
  return Object.fromEntries(said) as unknown as Described;
}

export const wrong = (reason: string): TypeError =>
  Object.assign(new TypeError(reason), { code: "ERR_AGENT_DEFINITION" });

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isTexts = (value: unknown): boolean => isRecord(value) && Object.values(value).every(isString);
const isString = (value: unknown): boolean => typeof value === "string";

export const RULES = {
  text: { expected: "a text", is: isText },
  truth: { expected: "true or false", is: (value: unknown) => typeof value === "boolean" },
  texts: { expected: "an object of texts", is: isTexts },
  list: {
    expected: "a list of texts",
    is: (value: unknown) => Array.isArray(value) && value.every(isText),
  },
  object: { expected: "an object", is: isRecord },
} as const satisfies Record<string, Rule>;

export const whole = (min: number, max: number): Rule => ({
  expected: `a whole number from ${min} to ${max}`,
  is: value => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
});
/** What a timer takes. */
export const ms = (min: number): Rule => whole(min, 2 ** 31 - 1);
export const needed = (rule: Rule): Rule => ({ ...rule, needed: true });
