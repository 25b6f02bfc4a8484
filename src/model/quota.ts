/** What a caller, or all callers of a tenant together, may use; what is not said is not limited. */
export interface Quota {
  readonly callsPerSecond?: number | undefined;
  /** Calls at once after a pause; default: twice `callsPerSecond`. */
  readonly callsBurst?: number | undefined;
  /** Runs at once: others wait. */
  readonly runs?: number | undefined;
  /** Open streams at once. */
  readonly streams?: number | undefined;
  /** Tasks that are kept. */
  readonly tasks?: number | undefined;
  /** Bytes of one call. */
  readonly bodyBytes?: number | undefined;
  /** Tokens that agents spend for them on one day, UTC: see `tokensIn`. */
  readonly tokensPerDay?: number | undefined;
}
export interface Quotas {
  readonly caller?: Quota | undefined;
  readonly tenant?: Quota | undefined;
  /** Other ones for some tenants; what is not said there is as for all. */
  readonly tenants?: Readonly<Record<string, Pick<Quotas, "caller" | "tenant">>> | undefined;
}

/** What models are paid for; where only the total is known, that. */
export function tokensIn(usage: Readonly<Record<string, number>>): number {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage;
  return Math.max(inputTokens + outputTokens, totalTokens);
}
