import type { AccessToken, AuthMethod, Principal, TokenStore } from "../ports/index.ts";
import { bearerChallenge, bearerOf, notGood } from "./bearer.ts";
import { createKnown } from "./identity-cache.ts";
import { toPrincipal } from "./principal.ts";
import { isToken, isWellFormed, toHash } from "./token.ts";

export interface TokenParts {
  readonly book: TokenStore;
  /** Tokens expire by it. */
  readonly wallTime: () => number;
}

/** Whoever has shown a token, and the token as the book had it at this revision. */
interface Known {
  readonly hash: string;
  readonly principal: Principal;
  token: AccessToken | null;
  revision: number;
}

/** Tokens that this server gave out. */
export function createTokenProof({ book, wallTime }: TokenParts): AuthMethod {
  const known = createKnown<Known>();

  /** Looks again if anything has changed. The revision is asked before the book is: what changes in between is seen later. */
  function look(one: Known): AccessToken | null | Promise<AccessToken | null> {
    const revision = book.revision();
    if (one.revision === revision) return one.token;
    const take = (found: AccessToken | null): AccessToken | null => {
      one.token = found;
      one.revision = revision;
      return found;
    };
    const found = book.find(one.hash);
    return found instanceof Promise ? found.then(take) : take(found);
  }

  function isGood(one: Known): boolean | Promise<boolean> {
    const judge = (token: AccessToken | null): boolean => whyNot(token, wallTime()) === undefined;
    const found = look(one);
    return found instanceof Promise ? found.then(judge) : judge(found);
  }

  function remember(secret: string, hash: string, token: AccessToken, revision: number): Known {
    const one: Known = { hash, token, revision, principal: toPrincipal(token, () => isGood(one)) };
    return known.keep(secret, one);
  }

  function use(secret: string, one: Known, token: AccessToken | null): Principal {
    const at = wallTime();
    const why = whyNot(token, at);
    if (token && why === undefined) {
      book.recordUse(token.id, at);
      return one.principal;
    }
    known.forget(secret);
    throw notGood(why ?? UNKNOWN);
  }

  function meet(secret: string): Principal | Promise<Principal> {
    if (!isWellFormed(secret)) throw notGood("The token is not whole");
    const hash = toHash(secret);
    const revision = book.revision();
    const take = (token: AccessToken | null): Principal => {
      if (!token) throw notGood(UNKNOWN);
      return use(secret, remember(secret, hash, token, revision), token);
    };
    const found = book.find(hash);
    return found instanceof Promise ? found.then(take) : take(found);
  }

  return {
    schemes: [{ name: "tokens", kind: "bearer", description: "A token that this server gave out" }],
    challenge: bearerChallenge,
    authenticate({ headers }) {
      const secret = bearerOf(headers);
      if (secret === undefined || !isToken(secret)) return undefined;
      const one = known.get(secret);
      if (!one) return meet(secret);
      const token = look(one);
      return token instanceof Promise
        ? token.then(found => use(secret, one, found))
        : use(secret, one, token);
    },
  };
}

const UNKNOWN = "The token is not known here";

function whyNot(token: AccessToken | null, at: number): string | undefined {
  if (!token) return UNKNOWN;
  if (token.revokedAt !== undefined) return "The token was revoked";
  return token.expiresAt !== undefined && token.expiresAt <= at ? "The token has expired" : undefined;
}
