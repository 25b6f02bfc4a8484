import { Fault } from "../model/index.ts";
import type { AuthMethod, RequestHeaders } from "../ports/index.ts";

const SCHEME = "bearer ";

/** The bearer token (RFC 6750), if there is one. */
export function bearerOf({ authorization }: RequestHeaders): string | undefined {
  if (authorization === undefined) return undefined;
  return authorization.slice(0, SCHEME.length).toLowerCase() === SCHEME
    ? authorization.slice(SCHEME.length).trim()
    : undefined;
}

export const invalidCredentials = (why: string): Fault => new Fault("unauthenticated", why);

export const isBearerMethod = (method: AuthMethod): boolean =>
  method.challenge(undefined).startsWith("Bearer");

const REALM = 'realm="dragoman"';

/** RFC 6750 §3. */
export function bearerChallenge(problem: string | undefined): string {
  const base = `Bearer ${REALM}`;
  return problem === undefined
    ? base
    : `${base}, error="invalid_token", error_description="${quoted(problem)}"`;
}

/** RFC 6750 §3.1: authenticated, but without this permission. */
export const scopeChallenge = (permission: string): string =>
  `Bearer ${REALM}, error="insufficient_scope", scope="${permission}"`;

export const challengeFor = (scheme: string, more = ""): string => `${scheme} ${REALM}${more}`;

/** Text for a quoted-string of a header. */
const quoted = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, "'");
