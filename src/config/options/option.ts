/** One option of the server, and the kinds of values that options have. */

type Parse<T> = (value: unknown) => T | undefined;

export interface Option<T, Input = T> {
  /** One line for `--help` and docs/reference/config.md, without a full stop. */
  readonly help: string;
  /** The valid values, for errors ("expected …") and the documentation. */
  readonly expected: string;
  readonly default: T;
  /** The default in words, where it is not a constant. */
  readonly defaultText?: string;
  /** The value of the flag in the help: `--port <number>`. undefined: the flag is a switch, `--mcp` or `--no-mcp`. */
  readonly placeholder: string | undefined;
  /** false: there is no flag. */
  readonly isFlag: boolean;
  /** Other programs can read a command line: a secret has no flag, and errors do not show it. */
  readonly isSecret: boolean;
  /** A relative path starts at the config file, or else at the working directory. */
  readonly isPath: boolean;
  readonly choices?: readonly string[];
  /** The name before a rename. It still works as flag, variable and config key, with a warning. */
  readonly formerly?: string;
  /** Reads a flag or a variable. Text that cannot be read stays text, which `parse` rejects. */
  fromText(text: string): unknown;
  /** Returns the valid value, or undefined. "schema": schemas.ts has the schema of this option. */
  readonly parse: Parse<T> | "schema";
  /** What a config file may contain; for the type `Config` alone. */
  readonly input?: Input;
}

/** The facts that every kind of option is given; the kind knows the rest. */
export interface OptionFacts<T> {
  readonly help: string;
  readonly default: T;
  readonly defaultText?: string;
  readonly placeholder?: string;
  readonly formerly?: string;
}

/** The values of a kind, plus undefined where the default is undefined. */
type OrDefault<T, D> = T | Extract<D, undefined>;

const VALUE = { isFlag: true, isSecret: false, isPath: false } as const;
const asIs = (text: string): unknown => text;

export function integer<D extends number | undefined>(
  facts: OptionFacts<D> & { readonly min: number; readonly max: number },
): Option<OrDefault<number, D>> {
  const { min, max, ...rest } = facts;
  return {
    placeholder: "number",
    ...VALUE,
    ...(rest as OptionFacts<OrDefault<number, D>>),
    expected: `a whole number from ${min} to ${max}`,
    fromText: text => (/^\d{1,15}$/.test(text) ? Number(text) : text),
    parse: value =>
      typeof value === "number" && Number.isInteger(value) && min <= value && value <= max
        ? value
        : undefined,
  };
}

export const port = <D extends number | undefined>(facts: OptionFacts<D>) =>
  integer({ min: 0, max: 65_535, ...facts });

/** The longest time that a timer takes. */
const MS_MAX = 2_147_483_647;
const COUNT_MAX = 1_000_000;
export const milliseconds = (min: number, facts: OptionFacts<number>): Option<number> =>
  integer({ min, max: MS_MAX, placeholder: "ms", ...facts });
export const count = (facts: OptionFacts<number>): Option<number> =>
  integer({ min: 1, max: COUNT_MAX, placeholder: "count", ...facts });

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
};

export const boolean = (facts: OptionFacts<boolean>): Option<boolean> => ({
  placeholder: undefined,
  ...VALUE,
  ...facts,
  expected: "true or false",
  fromText: text => BOOLEANS[text.toLowerCase()] ?? text,
  parse: value => (typeof value === "boolean" ? value : undefined),
});

export const choice = <const T extends string>(
  choices: readonly T[],
  facts: OptionFacts<NoInfer<T>> & { readonly placeholder: string },
): Option<T> => ({
  ...VALUE,
  ...facts,
  placeholder: facts.placeholder,
  choices,
  expected: choices.map(word => `"${word}"`).join(" or "),
  fromText: asIs,
  parse: value => choices.find(word => word === value),
});

type IsValid = (text: string) => boolean;

export function text<D extends string | undefined>(
  facts: OptionFacts<D> & {
    readonly placeholder: string;
    readonly expected: string;
    readonly isValid: IsValid;
    /** Applied before the check. */
    readonly normalize?: (text: string) => string;
  },
): Option<OrDefault<string, D>> {
  const { isValid, normalize = (given: string) => given, ...rest } = facts;
  return {
    ...VALUE,
    ...(rest as OptionFacts<OrDefault<string, D>> & { placeholder: string; expected: string }),
    fromText: asIs,
    parse(value) {
      const normalized = typeof value === "string" ? normalize(value) : undefined;
      return normalized !== undefined && isValid(normalized) ? normalized : undefined;
    },
  };
}

/** A path must not look like a URL: a database elsewhere would silently become a folder here. */
export const isLocalPath = (path: string): boolean =>
  path !== "" && !path.includes("://") && !path.includes("\0");

export const file = (help: string, defaultText?: string): Option<string | undefined> => ({
  ...text({ help, default: undefined, placeholder: "file", expected: "a file name", isValid: isLocalPath }),
  isPath: true,
  ...(defaultText !== undefined && { defaultText }),
});

export const listFromText = (words: string): unknown =>
  words
    .split(",")
    .map(word => word.trim())
    .filter(word => word !== "");

/** Strings with commas between them in a flag or a variable. */
export function list<D extends readonly string[] | undefined>(
  facts: OptionFacts<D> & { readonly expected: string; readonly isValid: IsValid },
): Option<OrDefault<readonly string[], D>> & { readonly parse: Parse<readonly string[]> } {
  const { isValid, ...rest } = facts;
  return {
    placeholder: "list",
    ...VALUE,
    ...(rest as OptionFacts<OrDefault<readonly string[], D>> & { expected: string }),
    fromText: listFromText,
    parse: value =>
      Array.isArray(value) && value.every(entry => typeof entry === "string" && isValid(entry))
        ? (value as readonly string[])
        : undefined,
  };
}

/** A single value stands for a list of one. */
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** JSON in a flag or a variable. */
export const structured = <T, Input = T>(
  facts: OptionFacts<T> & { readonly expected: string; readonly isSecret?: true },
): Option<T, Input> & { readonly parse: "schema" } => ({
  placeholder: "json",
  ...VALUE,
  ...facts,
  isFlag: !facts.isSecret,
  fromText: jsonFromText,
  parse: "schema",
});

export function jsonFromText(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
