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
import { bearerOf, scopeChallenge, takesBearer } from "./bearer.ts";
import { createLapses } from "./expiry.ts";
import { isForStrangers, isPublic, missingGrant } from "./permissions.ts";
import { toScope } from "./scope.ts";
import { noTenant } from "./tenant.ts";

export interface GuardParts {
  /** Tried one after another: the first that the caller shows counts. */
  readonly proofs: readonly AuthMethod[];
  readonly catalog: Catalog;
}

/** Lets in who can show who he is, and strangers where an agent is for everybody. */
export function createGuard({ proofs, catalog }: GuardParts): Authenticator {
  const taker = proofs.find(takesBearer);
  const unknown = (why: string, bad?: AuthMethod): Fault =>
    new Fault("unauthenticated", why, { challenge: challengeOf(proofs, bad, why) });
  const lapses = createLapses({ lookMs: LIMITS.lapseLookMs, fault: () => unknown(LAPSED) });

  function attempt(proof: AuthMethod, caller: Caller): ReturnType<AuthMethod["authenticate"]> {
    const refuse = (error: unknown): never => {
      const isBad = error instanceof Fault && error.code === "unauthenticated";
      throw isBad ? unknown(error.message, proof) : error;
    };
    try {
      const found = proof.authenticate(caller);
      return found instanceof Promise ? found.catch(refuse) : found;
    } catch (error) {
      return refuse(error);
    }
  }

  function identifyFrom(first: number, caller: Caller): ReturnType<Authenticator["authenticate"]> {
    for (let i = first; i < proofs.length; i++) {
      const found = attempt(proofs[i] as AuthMethod, caller);
      if (found instanceof Promise) return found.then(known => known ?? identifyFrom(i + 1, caller));
      if (found) return found;
    }
    // Who shows a token that nobody takes is not the same as who shows nothing.
    if (taker && bearerOf(caller.headers) !== undefined) throw unknown(NO_KIND, taker);
    return undefined;
  }

  const publicAgents = (): ReadonlySet<AgentName> =>
    new Set(
      catalog
        .all()
        .filter(isForAll)
        .map(agent => agent.name),
    );

  function admitStranger(operation: Operation): Scope {
    const { tenant, principal } = ANONYMOUS;
    const everybody = toScope(tenant, principal);
    if (isPublic(operation)) return everybody;
    const names = publicAgents();
    const isHis = operation.tenant === undefined || operation.tenant === tenant;
    if (isHis && isForStrangers(operation) && isAbout(operation, names, catalog.visibleTo(everybody)))
      return toScope(tenant, principal, names);
    throw unknown(WHO);
  }

  function admit(principal: Principal, operation: Operation): Scope {
    const grant = missingGrant(operation, principal.grants);
    if (grant !== undefined) throw forbidden(grant, principal, taker !== undefined);
    return toScope(tenantFor(principal, operation, catalog), principal.subject, principal.agents);
  }

  return {
    schemes: proofs.flatMap(proof => proof.schemes),
    authenticate: caller => identifyFrom(0, caller),
    allowsAnonymous(name) {
      const named = name === undefined ? undefined : catalog.find(name as AgentName);
      return named ? isForAll(named) : catalog.all().some(isForAll);
    },
    requirePrincipal(principal) {
      if (principal) return principal;
      throw unknown(WHO);
    },
    checkPrincipal(principal) {
      const refuse = (good: boolean): void => {
        if (!good) throw unknown(LAPSED);
      };
      const good = principal.isValid();
      return good instanceof Promise ? good.then(refuse) : refuse(good);
    },
    authorize: (principal, operation) => (principal ? admit(principal, operation) : admitStranger(operation)),
    onExpire: lapses.onLapse,
  };
}

/** Each kind once; `bad`: what was shown, and why it is not good. */
function challengeOf(proofs: readonly AuthMethod[], bad: AuthMethod | undefined, why: string): string {
  const byScheme = new Map<string, string>();
  for (const proof of proofs) {
    const text = proof.challenge(proof === bad ? why : undefined);
    const scheme = text.split(" ", 1)[0] as string;
    if (proof === bad || !byScheme.has(scheme)) byScheme.set(scheme, text);
  }
  return [...byScheme.values()].join(", ");
}

const isForAll = ({ policy }: Agent): boolean => policy.access === "public";

/** Whether it is one of these agents that is called; where the call leaves the choice to us, one of them will be. */
function isAbout({ agent, choice }: Operation, names: ReadonlySet<AgentName>, seen: VisibleAgents): boolean {
  if (agent === undefined && choice !== undefined) return names.size > 0;
  const found = seen.find(agent);
  return found !== undefined && names.has(found.name);
}

const WHO = "Say who you are: this needs credentials";
const NO_KIND = "The token is of no kind that is taken here";
const LAPSED = "The credentials of this call are no longer good";

function forbidden(grant: string, { grants }: Principal, hasBearer: boolean): Fault {
  const has = grants.length > 0 ? grants.join(", ") : "none";
  return new Fault("forbidden", `This needs the scope "${grant}"; the caller has: ${has}`, {
    facts: { scope: grant },
    ...(hasBearer && { challenge: scopeChallenge(grant) }),
  });
}

/** B-V4: the tenant that the call names, or else the only one that the caller has. */
function tenantFor(principal: Principal, operation: Operation, catalog: Catalog): string {
  const { tenants, subject, agents } = principal;
  const [first = "", ...others] = tenants;
  if (operation.tenant !== undefined) {
    if (tenants.includes(operation.tenant)) return operation.tenant;
    throw noTenant(operation.tenant, catalog.visibleTo(toScope(first, subject, agents)));
  }
  if (others.length === 0 || isPublic(operation)) return first;
  throw new Fault("invalid-params", `Say which tenant is meant; there are: ${tenants.join(", ")}`, {
    field: "tenant",
  });
}
