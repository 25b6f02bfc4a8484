import type { Quota, Quotas, Scope } from "../model/index.ts";

/** Whose: one caller's, or that of all callers of its tenant. */
export type Whose = "caller" | "tenant";
export const WHOSE: readonly Whose[] = ["caller", "tenant"];

/** The quota that holds for this caller, or for its tenant. */
export function quotaOf(quotas: Quotas, scope: Scope, whose: Whose): Quota {
  const { tenants } = quotas;
  const own = tenants && Object.hasOwn(tenants, scope.tenant) ? tenants[scope.tenant]?.[whose] : undefined;
  return own ? { ...quotas[whose], ...own } : (quotas[whose] ?? NONE);
}
const NONE: Quota = Object.freeze({});

export const keyOf = ({ tenant, principal }: Scope, whose: Whose): string =>
  whose === "tenant" ? tenant : `${tenant}\n${principal}`;

/** How messages name them. */
export const NAMES: Readonly<Record<Whose, string>> = { caller: "a caller", tenant: "a tenant" };

export const runQuotaOf = (quotas: Quotas, scope: Scope): Readonly<Record<Whose, number>> => ({
  caller: quotaOf(quotas, scope, "caller").runs ?? Number.POSITIVE_INFINITY,
  tenant: quotaOf(quotas, scope, "tenant").runs ?? Number.POSITIVE_INFINITY,
});

/** Bytes of one call of this caller. */
export function bodyBytesMaxOf(quotas: Quotas, scope: Scope): number {
  const sizes = WHOSE.map(whose => quotaOf(quotas, scope, whose).bodyBytes ?? Number.POSITIVE_INFINITY);
  return Math.min(...sizes);
}
