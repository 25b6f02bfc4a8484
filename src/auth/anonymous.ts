import { DEFAULT_TENANT, isCallerName, type Permission } from "../model/index.ts";
import type { Authenticator, Catalog, Principal } from "../ports/index.ts";
import { toScope } from "./scope.ts";
import { tenantNotFound } from "./tenant.ts";

export interface AnonymousParts {
  readonly catalog: Catalog;
  readonly grants: readonly Permission[];
}

/** No authentication: every call has the same principal. For a server on loopback, which only its own machine reaches. */
export function createAnonymousAuthenticator({ catalog, grants }: AnonymousParts): Authenticator {
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
    requirePrincipal: found => found ?? principal,
    // The one principal belongs to every tenant; the tasks of tenants are separate all the same.
    authorize(_principal, { tenant }) {
      if (tenant === undefined) return scope;
      if (!isCallerName(tenant)) throw tenantNotFound(tenant, catalog.visibleTo(scope));
      return toScope(tenant, principal.subject);
    },
    onExpire: () => () => {},
  };
}
