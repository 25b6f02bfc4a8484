import { type AgentName, ANONYMOUS, Fault, LIMITS, type Scope } from "../model/index.ts";
import type {
  Agent,
  Authenticator,
  AuthMethod,
  Caller,
  Catalog,
  Operation,
  Principal,
  VisibleAgents,
} from "../ports/index.ts";
import { bearerOf, isBearerMethod, scopeChallenge } from "./bearer.ts";
import { watchExpiry } from "./expiry.ts";
import { allowsAnonymousCall, isPublic, missingPermission } from "./permissions.ts";
import { toScope } from "./scope.ts";
import { tenantNotFound } from "./tenant.ts";

export interface AuthenticatorParts {
  /** Tried in this order: the first whose credentials are present counts. */
  readonly methods: readonly AuthMethod[];
  readonly catalog: Catalog;
}

/** Authenticates callers by their credentials, and admits anonymous callers to public agents. */
export function createAuthenticator({ methods, catalog }: AuthenticatorParts): Authenticator {
  const bearer = methods.find(isBearerMethod);
  const unauthenticated = (why: string, bad?: AuthMethod): Fault =>
    new Fault("unauthenticated", why, { challenge: challengeOf(methods, bad, why) });
  const expiry = watchExpiry({ intervalMs: LIMITS.expiryCheckMs, fault: () => unauthenticated(EXPIRED) });

  function attempt(method: AuthMethod, caller: Caller): ReturnType<AuthMethod["authenticate"]> {
    const refuse = (error: unknown): never => {
      const isBad = error instanceof Fault && error.code === "unauthenticated";
      throw isBad ? unauthenticated(error.message, method) : error;
    };
    try {
      const found = method.authenticate(caller);
      return found instanceof Promise ? found.catch(refuse) : found;
    } catch (error) {
      return refuse(error);
    }
  }

  function authenticateFrom(first: number, caller: Caller): ReturnType<Authenticator["authenticate"]> {
    for (let i = first; i < methods.length; i++) {
      const found = attempt(methods[i] as AuthMethod, caller);
      if (found instanceof Promise)
        return found.then(principal => principal ?? authenticateFrom(i + 1, caller));
      if (found) return found;
    }
    // A bearer token that no method accepts is an error; no credentials at all may be allowed.
    if (bearer && bearerOf(caller.headers) !== undefined) throw unauthenticated(UNSUPPORTED, bearer);
    return undefined;
  }

  const publicAgents = (): ReadonlySet<AgentName> =>
    new Set(
      catalog
        .all()
        .filter(isPublicAgent)
        .map(agent => agent.name),
    );

  function authorizeAnonymous(operation: Operation): Scope {
    const { tenant, principal } = ANONYMOUS;
    const scope = toScope(tenant, principal);
    if (isPublic(operation)) return scope;
    const names = publicAgents();
    const isOwnTenant = operation.tenant === undefined || operation.tenant === tenant;
    if (isOwnTenant && allowsAnonymousCall(operation) && isFor(operation, names, catalog.visibleTo(scope)))
      return toScope(tenant, principal, names);
    throw unauthenticated(REQUIRED);
  }

  function authorize(principal: Principal, operation: Operation): Scope {
    const grant = missingPermission(operation, principal.grants);
    if (grant !== undefined) throw forbidden(grant, principal, bearer !== undefined);
    return toScope(tenantFor(principal, operation, catalog), principal.subject, principal.agents);
  }

  return {
    schemes: methods.flatMap(method => method.schemes),
    authenticate: caller => authenticateFrom(0, caller),
    allowsAnonymous(name) {
      const named = name === undefined ? undefined : catalog.find(name as AgentName);
      return named ? isPublicAgent(named) : catalog.all().some(isPublicAgent);
    },
    requirePrincipal(principal) {
      if (principal) return principal;
      throw unauthenticated(REQUIRED);
    },
    checkPrincipal(principal) {
      const check = (isValid: boolean): void => {
        if (!isValid) throw unauthenticated(EXPIRED);
      };
      const isValid = principal.isValid();
      return isValid instanceof Promise ? isValid.then(check) : check(isValid);
    },
    authorize: (principal, operation) =>
      principal ? authorize(principal, operation) : authorizeAnonymous(operation),
    onExpire: expiry.onExpire,
  };
}

/** WWW-Authenticate with each scheme once; `bad`: the method whose credentials were rejected, and why. */
function challengeOf(methods: readonly AuthMethod[], bad: AuthMethod | undefined, why: string): string {
  const byScheme = new Map<string, string>();
  for (const method of methods) {
    const text = method.challenge(method === bad ? why : undefined);
    const scheme = text.split(" ", 1)[0] as string;
    if (method === bad || !byScheme.has(scheme)) byScheme.set(scheme, text);
  }
  return [...byScheme.values()].join(", ");
}

const isPublicAgent = ({ policy }: Agent): boolean => policy.access === "public";

/** Whether the call is for one of these agents; if the server chooses the agent, it chooses one of them. */
function isFor({ agent, choice }: Operation, names: ReadonlySet<AgentName>, visible: VisibleAgents): boolean {
  if (agent === undefined && choice !== undefined) return names.size > 0;
  const found = visible.find(agent);
  return found !== undefined && names.has(found.name);
}

const REQUIRED = "Authentication required";
const UNSUPPORTED = "Unsupported token type";
const EXPIRED = "The credentials have expired or were revoked";

function forbidden(grant: string, { grants }: Principal, hasBearer: boolean): Fault {
  const has = grants.length > 0 ? grants.join(", ") : "none";
  return new Fault("forbidden", `The scope "${grant}" is required; the caller has: ${has}`, {
    facts: { scope: grant },
    ...(hasBearer && { challenge: scopeChallenge(grant) }),
  });
}

/** B-V4: the tenant that the call names, or the only tenant of the caller. */
function tenantFor(principal: Principal, operation: Operation, catalog: Catalog): string {
  const { tenants, subject, agents } = principal;
  const [first = "", ...others] = tenants;
  if (operation.tenant !== undefined) {
    if (tenants.includes(operation.tenant)) return operation.tenant;
    throw tenantNotFound(operation.tenant, catalog.visibleTo(toScope(first, subject, agents)));
  }
  if (others.length === 0 || isPublic(operation)) return first;
  throw new Fault("invalid-params", `The tenant is required; the caller has: ${tenants.join(", ")}`, {
    field: "tenant",
  });
}
