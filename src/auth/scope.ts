import type { Scope } from "../model/index.ts";

/** The only mint of scopes: a store call without one does not compile. */
export function toScope(tenant: string, principal: string): Scope {
  return { tenant, principal } as Scope;
}
