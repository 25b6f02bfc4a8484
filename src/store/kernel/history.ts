/** Tasks listed when several callers chose the same task id. */
export const ALIAS_MATCHES_MAX = 10;
export const ambiguousAlias = (ids: readonly string[]): string =>
  `Several callers use this task id. Use one of the server's ids: ${ids.join(", ")}`;
