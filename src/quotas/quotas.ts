import type { Quota, Quotas, Scope } from "../model/index.ts";

/** A quota holds for one caller, or for all callers of a tenant together. */
export type QuotaSubject = "caller" | "tenant";
export const QUOTA_SUBJECTS: readonly QuotaSubject[] = ["caller", "tenant"];
/** The subject in messages. */
export const SUBJECT_NAMES: Readonly<Record<QuotaSubject, string>> = {
  caller: "a caller",
  tenant: "a tenant",
};

const UNLIMITED: Quota = Object.freeze({});

/** The quota of this caller, or of its tenant. */
export function quotaOf(quotas: Quotas, scope: Scope, subject: QuotaSubject): Quota {
  const { tenants } = quotas;
  const override =
    tenants && Object.hasOwn(tenants, scope.tenant) ? tenants[scope.tenant]?.[subject] : undefined;
  return override ? { ...quotas[subject], ...override } : (quotas[subject] ?? UNLIMITED);
}

export const keyOf = ({ tenant, principal }: Scope, subject: QuotaSubject): string =>
  subject === "tenant" ? tenant : `${tenant}\n${principal}`;

export const runQuotaOf = (quotas: Quotas, scope: Scope): Readonly<Record<QuotaSubject, number>> => ({
  caller: quotaOf(quotas, scope, "caller").runs ?? Number.POSITIVE_INFINITY,
  tenant: quotaOf(quotas, scope, "tenant").runs ?? Number.POSITIVE_INFINITY,
});

/** The limit of a request body. */
export function bodyBytesMaxOf(quotas: Quotas, scope: Scope): number {
  const limits = QUOTA_SUBJECTS.map(
    subject => quotaOf(quotas, scope, subject).bodyBytes ?? Number.POSITIVE_INFINITY,
  );
  return Math.min(...limits);
}
