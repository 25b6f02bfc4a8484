import { Fault } from "../model/index.ts";
import type { AuthMethod, Headers } from "../ports/index.ts";

const SCHEME = "bearer ";

/** The token of RFC 6750; undefined: there is none. */
export function bearerOf({ authorization }: Headers): string | undefined {
  if (authorization === undefined) return undefined;
  return authorization.slice(0, SCHEME.length).toLowerCase() === SCHEME
    ? authorization.slice(SCHEME.length).trim()
    : undefined;
}

/** What a caller shows is not good. */
export const notGood = (why: string): Fault => new Fault("unauthenticated", why);

export const takesBearer = (proof: AuthMethod): boolean => proof.challenge(undefined).startsWith("Bearer");

const REALM = 'realm="dragoman"';

/** RFC 6750 §3. */
export function bearerChallenge(problem: string | undefined): string {
  const base = `Bearer ${REALM}`;
  return problem === undefined
    ? base
    : `${base}, error="invalid_token", error_description="${quoted(problem)}"`;
}

/** RFC 6750 §3.1: known, but without this grant. */
export const scopeChallenge = (grant: string): string =>
  `Bearer ${REALM}, error="insufficient_scope", scope="${grant}"`;

export const otherChallenge = (scheme: string, more = ""): string => `${scheme} ${REALM}${more}`;

/** What may stand between the quotes of a header. */
const quoted = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, "'");
