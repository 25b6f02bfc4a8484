import { DEFAULT_TENANT, type Grant, isCallerName } from "../model/index.ts";
import type { Catalog, Guard, Principal } from "../ports/index.ts";
import { toScope } from "./scope.ts";
import { noTenant } from "./tenant.ts";

export interface AnonymousParts {
  readonly catalog: Catalog;
  readonly grants: readonly Grant[];
}

/** Everybody is the same caller: for a server on loopback, where whoever can connect is the one who started it. */
export function createAnonymousGuard({ catalog, grants }: AnonymousParts): Guard {
  const principal: Principal = {
    subject: "anonymous",
    tenants: [DEFAULT_TENANT],
    grants,
    agents: undefined,
    isGood: () => true,
  };
  const scope = toScope(DEFAULT_TENANT, principal.subject);
  return {
    schemes: [],
    identify: () => principal,
    takesStrangers: () => true,
    check: () => {},
    need: known => known ?? principal,
    // Whoever is everybody is in every tenant; their tasks are kept apart all the same.
    admit(_principal, { tenant }) {
      if (tenant === undefined) return scope;
      if (!isCallerName(tenant)) throw noTenant(tenant, catalog.seenBy(scope));
      return toScope(tenant, principal.subject);
    },
    onLapse: () => () => {},
  };
}
