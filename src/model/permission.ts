import { Fault } from "./fault.ts";
import type { Scope } from "./ids.ts";
import { LIMITS } from "./limits.ts";

/**
 * Permissions: messages and streams, reading, cancelling, push configs; the endpoints below /admin; the admin API for the
 * caller's own tasks, to read and to change.
 */
export const PERMISSIONS = [
  "send",
  "read",
  "cancel",
  "push",
  "admin",
  "console:read",
  "console:act",
] as const;
export type Permission = (typeof PERMISSIONS)[number];
export const DEFAULT_PERMISSIONS: readonly Permission[] = ["send", "read", "cancel", "push"];

/** The principal of credentials, and its permissions. */
export interface Identity {
  readonly principal: string;
  /** Several: a call must name one of them. */
  readonly tenants: readonly string[];
  readonly grants: readonly Permission[];
  /** The agents that it may know of; undefined: all agents of its tenant. */
  readonly agents: readonly string[] | undefined;
}

/** The tenant of callers for whom no other is configured. */
export const DEFAULT_TENANT = "default";

/** Whether a name of a tenant or a principal is valid: no control characters, not blank. */
export const isCallerName = (name: string): boolean =>
  name.length <= LIMITS.idCharsMax && name.trim() !== "" && name.isWellFormed() && !/\p{Cc}/u.test(name);

export const tooManyTokens = (): Fault =>
  new Fault("conflict", `Limit of ${LIMITS.tokensMax} tokens reached; revoke some`);

/** All anonymous callers share one scope, which no authenticated caller can have. */
export const ANONYMOUS = { tenant: "public", principal: "anonymous" } as const;
export const isAnonymous = ({ tenant, principal }: Pick<Scope, "tenant" | "principal">): boolean =>
  tenant === ANONYMOUS.tenant && principal === ANONYMOUS.principal;
