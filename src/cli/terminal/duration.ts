import { InvalidArgumentError } from "commander";

const UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };

/** `30d`, `12h`, `90min`, `60s` in milliseconds. */
export function toMs(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,9})(d|h|min|s)$/.exec(text) ?? [];
  const ms = UNITS_MS[unit];
  if (ms === undefined) throw new InvalidArgumentError("Write it like 30d, 12h, 90min or 60s.");
  return Number(digits) * ms;
}
