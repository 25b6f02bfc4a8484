/** Numbers in words, for people. */

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

/** `3 ms`, `1.2 s`, `2 min 5 s`, `3 h 10 min` */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 1_440
    ? `${Math.floor(minutes / 60)} h ${minutes % 60} min`
    : `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}
