/** The cosine of the angle to a query, for the most similar vector of an item; undefined: the item has no vector. */
export function toSimilarity(query: Float32Array): (vectors: readonly Float32Array[]) => number | undefined {
  const length = lengthOf(query);
  return vectors => {
    let best: number | undefined;
    for (const vector of vectors) {
      // Vectors of another embedding function cannot be compared.
      if (vector.length !== query.length) continue;
      const both = length * lengthOf(vector);
      const score = both === 0 ? 0 : dot(query, vector) / both;
      if (best === undefined || score > best) best = score;
    }
    return best;
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

const lengthOf = (vector: Float32Array): number => Math.sqrt(dot(vector, vector));

interface Match<T> {
  readonly value: T;
  readonly score: number | undefined;
}

/** The best of many, without holding all of them. Values without a score come last, in their order. */
export class BestMatches<T> {
  readonly #max: number;
  #matches: Match<T>[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(value: T, score: number | undefined): void {
    this.#matches.push({ value, score });
    if (this.#matches.length >= 2 * this.#max + 100) this.#prune();
  }

  take(offset: number, limit: number): readonly Match<T>[] {
    this.#prune();
    return this.#matches.slice(offset, offset + limit);
  }

  #prune(): void {
    const rank = ({ score }: Match<T>): number => score ?? Number.NEGATIVE_INFINITY;
    // Subtracting two infinities gives NaN.
    this.#matches.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
    this.#matches.length = Math.min(this.#matches.length, this.#max);
  }
}
