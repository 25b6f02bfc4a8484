import type { AccessToken, AuthMethod, Principal, TokenStore } from "../ports/index.ts";
import { bearerChallenge, bearerOf, invalidCredentials } from "./bearer.ts";
import { createIdentityCache } from "./identity-cache.ts";
import { toPrincipal } from "./principal.ts";
import { isToken, isWellFormed, toHash } from "./token.ts";

export interface TokenAuthParts {
  readonly tokens: TokenStore;
  /** Tokens expire by it. */
  readonly wallTime: () => number;
}

/** A token that was used recently, as the store had it at this revision. */
interface CachedToken {
  readonly hash: string;
  readonly principal: Principal;
  token: AccessToken | null;
  revision: number;
}

/** Access tokens that this server issued. */
export function createTokenAuth({ tokens, wallTime }: TokenAuthParts): AuthMethod {
  const cache = createIdentityCache<CachedToken>();

  /** Reads the token again if the store has changed. The revision is read first: a change in between is seen by the next call. */
  function refresh(one: CachedToken): AccessToken | null | Promise<AccessToken | null> {
    const revision = tokens.revision();
    if (one.revision === revision) return one.token;
    const take = (found: AccessToken | null): AccessToken | null => {
      one.token = found;
      one.revision = revision;
      return found;
    };
    const found = tokens.find(one.hash);
    return found instanceof Promise ? found.then(take) : take(found);
  }

  function isValid(one: CachedToken): boolean | Promise<boolean> {
    const check = (token: AccessToken | null): boolean => rejectionOf(token, wallTime()) === undefined;
    const found = refresh(one);
    return found instanceof Promise ? found.then(check) : check(found);
  }

  function remember(secret: string, hash: string, token: AccessToken, revision: number): CachedToken {
    const one: CachedToken = { hash, token, revision, principal: toPrincipal(token, () => isValid(one)) };
    return cache.set(secret, one);
  }

  function usePrincipal(secret: string, one: CachedToken, token: AccessToken | null): Principal {
    const at = wallTime();
    const why = rejectionOf(token, at);
    if (token && why === undefined) {
      tokens.recordUse(token.id, at);
      return one.principal;
    }
    cache.delete(secret);
    throw invalidCredentials(why ?? UNKNOWN);
  }

  function findToken(secret: string): Principal | Promise<Principal> {
    if (!isWellFormed(secret)) throw invalidCredentials("Malformed token");
    const hash = toHash(secret);
    const revision = tokens.revision();
    const take = (token: AccessToken | null): Principal => {
      if (!token) throw invalidCredentials(UNKNOWN);
      return usePrincipal(secret, remember(secret, hash, token, revision), token);
    };
    const found = tokens.find(hash);
    return found instanceof Promise ? found.then(take) : take(found);
  }

  return {
    schemes: [{ name: "tokens", kind: "bearer", description: "A token that this server issued" }],
    challenge: bearerChallenge,
    authenticate({ headers }) {
      const secret = bearerOf(headers);
      if (secret === undefined || !isToken(secret)) return undefined;
      const one = cache.get(secret);
      if (!one) return findToken(secret);
      const token = refresh(one);
      return token instanceof Promise
        ? token.then(found => usePrincipal(secret, one, found))
        : usePrincipal(secret, one, token);
    },
  };
}

const UNKNOWN = "Unknown token";

function rejectionOf(token: AccessToken | null, at: number): string | undefined {
  if (!token) return UNKNOWN;
  if (token.revokedAt !== undefined) return "The token was revoked";
  return token.expiresAt !== undefined && token.expiresAt <= at ? "The token has expired" : undefined;
}
