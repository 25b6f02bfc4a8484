/** What an option is, and the kinds of options that there are. */
import { z } from "zod";

/** A vendor's dialect: with what its document lacks, exactly as its document says, or not at all. */
export type Profile = "on" | "strict" | "off";

export interface Option<T> {
  /** For help texts: one line, no full stop. */
  readonly about: string;
  /** For errors: "expected …". */
  readonly expected: string;
  /** What is checked, and how a right value is written. */
  readonly schema: z.ZodType<T>;
  readonly fallback: T;
  /** It is or holds a secret: no flag, because others can read a command line, and no error shows it. */
  readonly secret?: true;
  /** From the text of a variable or a flag; a text that is no such value stays a text, and the schema refuses it. */
  fromText(text: string): unknown;
}

export type Facts<T> = Pick<Option<T>, "about" | "fallback">;

export const asText = (text: string): unknown => text;
export const asNumber = (text: string): unknown => (/^\d{1,15}$/.test(text) ? Number(text) : text);
export const asList = (text: string): unknown =>
  text
    .split(",")
    .map(one => one.trim())
    .filter(one => one !== "");

/** What is not JSON stays a text, and the schema refuses it. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Words with spaces between them, or a list as JSON where a word has spaces in it. */
export const asWords = (text: string): unknown =>
  text.trim().startsWith("[") ? asJson(text) : text.split(/\s+/).filter(word => word !== "");

const TRUTHS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
};
export const asTruth = (text: string): unknown => TRUTHS[text.toLowerCase()] ?? text;

export function whole<T extends number | undefined>(min: number, max: number, facts: Facts<T>): Option<T> {
  const expected = `a whole number from ${min} to ${max}`;
  const schema = z.int().min(min).max(max) as unknown as z.ZodType<T>;
  return { ...facts, expected, schema, fromText: asNumber };
}

/** What a timer takes. */
const MS_MAX = 2_147_483_647;
const COUNT_MAX = 1_000_000;
export const ms = (min: number, facts: Facts<number>): Option<number> => whole(min, MS_MAX, facts);
export const count = (facts: Facts<number>): Option<number> => whole(1, COUNT_MAX, facts);

export function choice<const T extends string>(words: readonly [T, ...T[]], facts: Facts<T>): Option<T> {
  const expected = words.map(word => `"${word}"`).join(" or ");
  return { ...facts, expected, schema: z.enum(words) as unknown as z.ZodType<T>, fromText: asText };
}

export const profile = (whose: string): Option<Profile> =>
  choice(["on", "strict", "off"], { about: `The dialect of ${whose}`, fallback: "on" });

/** A path may not look like a URL: a database elsewhere would quietly become a folder here. */
export const folder = z.string().refine(text => text !== "" && !text.includes("://") && !text.includes("\0"));

export const file = (about: string): Option<string | undefined> => ({
  about,
  expected: "a file name",
  schema: folder,
  fallback: undefined,
  fromText: asText,
});
