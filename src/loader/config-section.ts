/** Reads the members of a JSON config and collects what is wrong with them, each with its line. */
import { didYouMean } from "../lib/did-you-mean.ts";
import type { JsonLines } from "./json-lines.ts";

export type JsonMembers = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is JsonMembers =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Where messages about a file go. */
export interface ConfigMessages {
  readonly file: string;
  readonly lines: JsonLines;
  readonly problems: string[];
  readonly warnings: string[];
}

/** An object in the file. Each member that is read is known; `finish` refuses the others. */
export class ConfigSection {
  readonly #members: JsonMembers;
  readonly #path: string;
  readonly #messages: ConfigMessages;
  readonly #known = new Set<string>();

  constructor(members: JsonMembers, path: string, messages: ConfigMessages) {
    this.#members = members;
    this.#path = path;
    this.#messages = messages;
  }

  get keys(): readonly string[] {
    return Object.keys(this.#members);
  }

  raw(key: string): unknown {
    this.#known.add(key);
    return Object.hasOwn(this.#members, key) ? this.#members[key] : undefined;
  }

  boolean(key: string): boolean | undefined {
    return this.#read(key, "true or false", (value): value is boolean => typeof value === "boolean");
  }

  text(
    key: string,
    expected = "a text",
    isValid: (text: string) => boolean = () => true,
  ): string | undefined {
    return this.#read(
      key,
      expected,
      (value): value is string => typeof value === "string" && value !== "" && isValid(value),
    );
  }

  texts(key: string, expected = "a list of texts"): readonly string[] | undefined {
    return this.#read(
      key,
      expected,
      (value): value is readonly string[] =>
        Array.isArray(value) && value.every(one => typeof one === "string" && one !== ""),
    );
  }

  integer(key: string, min: number, max: number): number | undefined {
    return this.#read(
      key,
      `a whole number from ${min} to ${max}`,
      (value): value is number =>
        Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    );
  }

  number(key: string, min: number, max: number): number | undefined {
    return this.#read(
      key,
      `a number from ${min} to ${max}`,
      (value): value is number => typeof value === "number" && value >= min && value <= max,
    );
  }

  choice<const C extends string>(key: string, choices: readonly C[]): C | undefined {
    const expected = choices.map(choice => `"${choice}"`).join(" or ");
    return this.#read(key, expected, (value): value is C => choices.includes(value as C));
  }

  /** undefined: absent, or no object, which is a problem. */
  section(key: string): ConfigSection | undefined {
    const members = this.#read(key, "an object", isMembers);
    return members && new ConfigSection(members, this.#pathOf(key), this.#messages);
  }

  refuse(key: string, reason: string): void {
    this.#known.add(key);
    this.#messages.problems.push(`${this.#place(key)} ${reason}`);
  }

  warn(key: string, text: string): void {
    this.#messages.warnings.push(`${this.#place(key)} ${text}`);
  }

  /** Refuses the members that were not read. `reasons`: why those are not supported that LangGraph's server has. */
  finish(reasons: Readonly<Record<string, string>> = {}): void {
    const known = [...this.#known];
    for (const key of this.keys)
      if (!this.#known.has(key))
        this.refuse(
          key,
          reasons[key] === undefined
            ? `is unknown${didYouMean(key, known)}; remove it`
            : `is not supported: ${reasons[key]}`,
        );
  }

  #read<T>(key: string, expected: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.raw(key);
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    this.refuse(key, `must be ${expected}`);
    return undefined;
  }

  #pathOf(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }

  /** `langgraph.json:7: http.cors` */
  #place(key: string): string {
    const { file, lines } = this.#messages;
    const path = this.#pathOf(key);
    const line = lines.get(path);
    return `${file}${line === undefined ? "" : `:${line}`}: ${path}`;
  }
}
