import { DEFAULT_TENANT, isCallerName, type Permission } from "../model/index.ts";
import type { Authenticator, Catalog, Principal } from "../ports/index.ts";
import { toScope } from "./scope.ts";
import { noTenant } from "./tenant.ts";

export interface AnonymousParts {
  readonly catalog: Catalog;
  readonly grants: readonly Permission[];
}

/** Everybody is the same caller: for a server on loopback, where whoever can connect is the one who started it. */
export function createAnonymousGuard({ catalog, grants }: AnonymousParts): Authenticator {
  const principal: Principal = {
    subject: "anonymous",
    tenants: [DEFAULT_TENANT],
    grants,
    agents: undefined,
    isValid: () => true,
  };
  const scope = toScope(DEFAULT_TENANT, principal.subject);
  return {
    schemes: [],
    authenticate: () => principal,
    allowsAnonymous: () => true,
    checkPrincipal: () => {},
    requirePrincipal: known => known ?? principal,
    // Whoever is everybody is in every tenant; their tasks are kept apart all the same.
    authorize(_principal, { tenant }) {
      if (tenant === undefined) return scope;
      if (!isCallerName(tenant)) throw noTenant(tenant, catalog.visibleTo(scope));
      return toScope(tenant, principal.subject);
    },
    onExpire: () => () => {},
  };
}
