/** Parsers for the values of flags, for commander. */
import { InvalidArgumentError } from "commander";
import { UNITS_MS } from "../terminal/text.ts";

/** A whole number from 1 up. */
export function toCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError("It must be a whole number, 1 or more.");
}

/** A whole number from 0 up. */
export function toCountOrZero(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}

export function toSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds < 2_000_000) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds, more than 0.");
}

/** `30d`, `12h`, `90min`, `60s` in milliseconds. */
export function toMs(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,9})(d|h|min|s)$/.exec(text) ?? [];
  const ms = UNITS_MS[unit as keyof typeof UNITS_MS];
  if (ms === undefined) throw new InvalidArgumentError("It must be a duration like 30d, 12h, 90min or 60s.");
  return Number(digits) * ms;
}
