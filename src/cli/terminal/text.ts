export { formatCount, formatDuration, formatSize } from "../../lib/format.ts";

/** Aligns the columns and truncates each row at the width of the terminal. */
export function formatTable(
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)));
  return rows.map(row => truncate(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "), columns));
}

export function truncate(line: string, charsMax: number): string {
  const trimmed = line.trimEnd();
  return trimmed.length > charsMax ? `${trimmed.slice(0, charsMax - 1)}…` : trimmed;
}

export const UNITS_MS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 } as const;

/** `5 min ago`; empty if the timestamp is missing or invalid. */
export function formatAge(timestamp: string | undefined, now: number): string {
  const then = timestamp === undefined ? Number.NaN : new Date(timestamp).getTime();
  if (Number.isNaN(then)) return "";
  const [unit, ms] = Object.entries(UNITS_MS).find(([, one]) => now - then >= one) ?? [];
  return ms === undefined ? "now" : `${Math.floor((now - then) / ms)} ${unit} ago`;
}
