/** The known word that was probably meant, or undefined. Case, `-` and `_` do not count. */
export function findNearest(word: string, known: readonly string[], editsMax: number): string | undefined {
  const wanted = normalize(word);
  let best: string | undefined;
  let bestDistance = Math.min(editsMax, Math.ceil(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, normalize(candidate));
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** The end of an error message about an unknown word. */
export function didYouMean(word: string, known: readonly string[], editsMax = 3): string {
  const meant = findNearest(word, known, editsMax);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

const WORD_CHARS_MAX = 64;
const normalize = (word: string): string => word.toLowerCase().replace(/[-_]/g, "").slice(0, WORD_CHARS_MAX);

/** Damerau-Levenshtein: changed, inserted, deleted and transposed characters. */
function editDistance(from: string, to: string): number {
  const table: number[][] = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const above = table[i - 1] as number[];
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = (above[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const least = Math.min(changed, (above[j] as number) + 1, (row[j - 1] as number) + 1);
      const isTransposed = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(isTransposed ? Math.min(least, (table[i - 2]?.[j - 2] as number) + 1) : least);
    }
    table.push(row);
  }
  return table[from.length]?.[to.length] as number;
}
