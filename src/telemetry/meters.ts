/** Counters, gauges and histograms. An update costs a lookup; text is made when Prometheus asks. */

export interface MetricFacts {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  /** One line, no full stop. */
  readonly help: string;
  /** Upper bounds, ascending; of a histogram only. */
  readonly buckets?: readonly number[];
}

/** One value for each label, in their order. */
export type LabelValues<Names extends readonly string[]> = { readonly [At in keyof Names]: string };

/** One line of the Prometheus text. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Meter {
  readonly facts: MetricFacts;
  samples(): readonly Sample[];
}

/** Label sets of one metric; further ones are counted as "other". */
export const SERIES_MAX = 1_000;
export const OTHER = "other";

/** The series of one metric, by the values of its labels. */
class Series<T> {
  readonly #names: readonly string[];
  readonly #make: () => T;
  readonly #byKey = new Map<string, { readonly labels: Sample["labels"]; readonly one: T }>();
  /** The last series: mostly it is the next one too, and a comparison is cheaper than a lookup. */
  #last: { readonly values: readonly string[]; readonly one: T } | undefined;

  constructor(names: readonly string[], make: () => T) {
    this.#names = names;
    this.#make = make;
    if (names.length === 0) this.of([]);
  }

  of(values: readonly string[]): T {
    if (this.#last && isSame(this.#last.values, values)) return this.#last.one;
    const one = this.#find(values);
    this.#last = { values, one };
    return one;
  }

  #find(values: readonly string[]): T {
    const key = values.length === 1 ? (values[0] as string) : values.join("\n");
    const found = this.#byKey.get(key);
    if (found) return found.one;
    if (this.#byKey.size >= SERIES_MAX && values.some(value => value !== OTHER))
      return this.#find(values.map(() => OTHER));
    const labels = Object.fromEntries(this.#names.map((name, i) => [name, values[i] as string]));
    const one = this.#make();
    this.#byKey.set(key, { labels, one });
    return one;
  }

  clear(): void {
    this.#byKey.clear();
    this.#last = undefined;
  }

  flatMap<R>(toMany: (labels: Sample["labels"], one: T) => readonly R[]): readonly R[] {
    return [...this.#byKey.values()].flatMap(({ labels, one }) => toMany(labels, one));
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false;
  return true;
}

export class Counter<Names extends readonly string[] = readonly string[]> implements Meter {
  readonly facts: MetricFacts;
  readonly #series: Series<{ value: number }>;

  constructor(facts: MetricFacts) {
    this.facts = facts;
    this.#series = new Series(facts.labels, () => ({ value: 0 }));
  }

  add(labels: LabelValues<Names>, by = 1): void {
    this.#series.of(labels).value += by;
  }

  samples(): readonly Sample[] {
    const { name } = this.facts;
    return this.#series.flatMap((labels, { value }) => [{ name, labels, value }]);
  }
}

export class Gauge<Names extends readonly string[] = readonly string[]> implements Meter {
  readonly facts: MetricFacts;
  readonly #series: Series<{ value: number }>;
  #look: (() => number) | undefined;

  constructor(facts: MetricFacts) {
    this.facts = facts;
    this.#series = new Series(facts.labels, () => ({ value: 0 }));
  }

  set(labels: LabelValues<Names>, value: number): void {
    this.#series.of(labels).value = value;
  }

  /** From now on measured when Prometheus asks; for a metric without labels. */
  follow(look: () => number): void {
    this.#look = look;
  }

  /** Removes all series. */
  clear(): void {
    this.#series.clear();
  }

  samples(): readonly Sample[] {
    const { name } = this.facts;
    if (this.#look) this.#series.of([]).value = this.#look();
    return this.#series.flatMap((labels, { value }) => [{ name, labels, value }]);
  }
}

interface BucketCounts {
  /** Per bucket, and one more for values above all bounds. */
  readonly counts: number[];
  sum: number;
}

export class Histogram<Names extends readonly string[] = readonly string[]> implements Meter {
  readonly facts: MetricFacts;
  readonly #bounds: readonly number[];
  readonly #series: Series<BucketCounts>;

  constructor(facts: MetricFacts) {
    this.facts = facts;
    this.#bounds = facts.buckets ?? [];
    const zeros = new Array<number>(this.#bounds.length + 1).fill(0);
    this.#series = new Series(facts.labels, () => ({ counts: [...zeros], sum: 0 }));
  }

  observe(labels: LabelValues<Names>, value: number): void {
    const spread = this.#series.of(labels);
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at++;
    (spread.counts[at] as number) += 1;
    spread.sum += value;
  }

  samples(): readonly Sample[] {
    return this.#series.flatMap((labels, spread) => this.#toSamples(labels, spread));
  }

  /** The counts of all series together, per bucket. */
  totals(): readonly number[] {
    const sums = new Array<number>(this.#bounds.length + 1).fill(0);
    this.#series.flatMap((_, { counts }) =>
      counts.map((count, at) => (sums[at] = (sums[at] as number) + count)),
    );
    return sums;
  }

  /** Prometheus buckets are cumulative. */
  #toSamples(labels: Sample["labels"], { counts, sum }: BucketCounts): readonly Sample[] {
    const { name } = this.facts;
    let count = 0;
    const buckets = counts.map((some, at) => {
      count += some;
      const le = String(this.#bounds[at] ?? "+Inf");
      return { name: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { name: `${name}_sum`, labels, value: sum },
      { name: `${name}_count`, labels, value: count },
    ];
  }
}
