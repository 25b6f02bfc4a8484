/** The known word that was probably meant, or undefined. Case, `-` and `_` do not count. */
export function nearest(word: string, known: readonly string[], slipsMax: number): string | undefined {
  const wanted = plain(word);
  let best: string | undefined;
  let bestSlips = Math.min(slipsMax, Math.ceil(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const slips = slipsBetween(wanted, plain(candidate));
    if (slips >= bestSlips) continue;
    best = candidate;
    bestSlips = slips;
  }
  return best;
}

/** The end of a sentence that says that a word is unknown. */
export function hint(word: string, known: readonly string[], slipsMax = 3): string {
  const meant = nearest(word, known, slipsMax);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

const WORD_CHARS_MAX = 64;
const plain = (word: string): string => word.toLowerCase().replace(/[-_]/g, "").slice(0, WORD_CHARS_MAX);

/** How many characters must be changed, put in, left out, or swapped with their neighbour. */
function slipsBetween(from: string, to: string): number {
  const table: number[][] = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) row.push(fewest(table, row, from, to, i, j));
    table.push(row);
  }
  return table[from.length]?.[to.length] as number;
}

function fewest(table: number[][], row: number[], from: string, to: string, i: number, j: number): number {
  const above = table[i - 1] as number[];
  const changed = (above[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
  const least = Math.min(changed, (above[j] as number) + 1, (row[j - 1] as number) + 1);
  const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
  return isSwap ? Math.min(least, (table[i - 2]?.[j - 2] as number) + 1) : least;
}
