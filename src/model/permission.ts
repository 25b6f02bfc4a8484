import { Fault } from "./fault.ts";
import type { Scope } from "./ids.ts";
import { LIMITS } from "./limits.ts";

/** What a caller may do: messages and streams, reading, cancelling, push, and what is below /admin. */
export const PERMISSIONS = ["send", "read", "cancel", "push", "admin"] as const;
export type Permission = (typeof PERMISSIONS)[number];
/** All but what is for administrators. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(grant => grant !== "admin");

/** Whom credentials stand for, and what they are good for. */
export interface Identity {
  readonly principal: string;
  /** Several: a call must say which one it is for. */
  readonly tenants: readonly string[];
  readonly grants: readonly Permission[];
  /** The agents that it may know of; undefined: all that its tenant has. */
  readonly agents: readonly string[] | undefined;
}

/** The tenant of those who did not say another. */
export const DEFAULT_TENANT = "default";

/** Whether a tenant or a principal may be called so: no control characters, nothing that only looks empty. */
export const isCallerName = (name: string): boolean =>
  name.length <= LIMITS.idCharsMax && name.trim() !== "" && name.isWellFormed() && !/\p{Cc}/u.test(name);

export const tooManyTokens = (): Fault =>
  new Fault(
    "conflict",
    `There are ${LIMITS.tokensMax} tokens, which is all that one server takes; revoke some`,
  );

/** Whose the tasks of strangers are: all of them are one caller, and nobody else is it. */
export const ANONYMOUS = { tenant: "public", principal: "anonymous" } as const;
export const isAnonymous = ({ tenant, principal }: Pick<Scope, "tenant" | "principal">): boolean =>
  tenant === ANONYMOUS.tenant && principal === ANONYMOUS.principal;
