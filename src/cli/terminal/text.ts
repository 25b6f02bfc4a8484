/** Rows in columns; a row is cut where the terminal ends. */
export function formatTable(
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)));
  return rows.map(row => truncate(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "), columns));
}

/** At most so many characters of a line. */
export function truncate(line: string, charsMax: number): string {
  const trimmed = line.trimEnd();
  return trimmed.length > charsMax ? `${trimmed.slice(0, charsMax - 1)}…` : trimmed;
}

const UNITS: readonly { readonly name: string; readonly ms: number }[] = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
  { name: "s", ms: 1_000 },
];

/** How long ago a timestamp was, in one unit. */
export function formatAge(timestamp: string | undefined, now: number): string {
  const then = timestamp === undefined ? Number.NaN : new Date(timestamp).getTime();
  if (Number.isNaN(then)) return "";
  const unit = UNITS.find(({ ms }) => now - then >= ms);
  return unit ? `${Math.floor((now - then) / unit.ms)} ${unit.name} ago` : "now";
}

/** `1 run`, `2 runs`, `1,234 runs`. */
export const formatCount = (number: number, word: string): string =>
  `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

const SIZES = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** `12.3 MB` */
export function formatSize(bytes: number): string {
  const power = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power > 0 && value < 100 ? value.toFixed(1) : Math.round(value)} ${SIZES[power]}`;
}
