/** Limits for one caller, or for all callers of a tenant together; an absent member means no limit. */
export interface Quota {
  readonly callsPerSecond?: number | undefined;
  /** Calls at once after a pause; default: twice `callsPerSecond`. */
  readonly callsBurst?: number | undefined;
  /** Concurrent runs: further ones wait. */
  readonly runs?: number | undefined;
  /** Concurrent streams. */
  readonly streams?: number | undefined;
  /** Stored tasks. */
  readonly tasks?: number | undefined;
  /** Bytes of one request body. */
  readonly bodyBytes?: number | undefined;
  /** Tokens that agents spend per day, UTC: see `countTokens`. */
  readonly tokensPerDay?: number | undefined;
}
export interface Quotas {
  readonly caller?: Quota | undefined;
  readonly tenant?: Quota | undefined;
  /** Overrides by tenant; absent members are inherited. */
  readonly tenants?: Readonly<Record<string, Pick<Quotas, "caller" | "tenant">>> | undefined;
}
