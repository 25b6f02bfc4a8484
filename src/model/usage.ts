/** Counters of resources that an agent has used, such as the tokens of a model. */
export interface Usage {
  readonly [counter: string]: number;
}

export function sumUsage(total: Usage | undefined, more: Usage): Usage {
  const sum: Record<string, number> = { ...total };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** The tokens that models charge for; the total where input and output are not known apart. */
export function countTokens(usage: Usage): number {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage;
  return Math.max(inputTokens + outputTokens, totalTokens);
}

const DAY_MS = 86_400_000;
/** Days since 1970-01-01, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
export const startOfDay = (day: number): number => day * DAY_MS;
