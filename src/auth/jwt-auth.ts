import type { JWTPayload } from "jose";
import { Fault, type JwtIssuer, LIMITS, type SecurityScheme } from "../model/index.ts";
import type { AuthMethod, Fetch, Principal } from "../ports/index.ts";
import { bearerChallenge, bearerOf, notGood } from "./bearer.ts";
import { createKnown } from "./identity-cache.ts";
import { toBadge } from "./jwt-claims.ts";
import { createIssuerKeys, discoveryUrl } from "./jwt-keys.ts";
import { toPrincipal } from "./principal.ts";
import { isToken } from "./token.ts";

export interface JwtParts {
  readonly issuers: readonly JwtIssuer[];
  readonly fetch: Fetch;
  /** `exp` and `nbf` are judged by it. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

interface Known extends Checked {
  /** In ticks: after this it must be checked again. */
  readonly until: number;
}

/** Signed tokens of others (RFC 7519). To check a signature is dear, so that who was known a moment ago is known. */
export function createJwtProof(parts: JwtParts): AuthMethod {
  const { wallTime, ticks } = parts;
  const known = createKnown<Known>();
  const byName = new Map(parts.issuers.map(one => [one.issuer, createCheck(one, parts)]));

  async function check(secret: string): Promise<Principal> {
    const { decodeJwt } = await import("jose");
    const verify = byName.get(issuerOf(() => decodeJwt(secret)) ?? "");
    if (!verify) throw notGood("The token is of an issuer that is not known here");
    const checked = await verify(secret);
    known.keep(secret, { ...checked, until: ticks() + LIMITS.knownJwtMs });
    return checked.principal;
  }

  return {
    schemes: parts.issuers.map(toScheme),
    challenge: bearerChallenge,
    authenticate({ headers }) {
      const secret = bearerOf(headers);
      if (secret === undefined || isToken(secret)) return undefined;
      if (secret.length > LIMITS.tokenCharsMax)
        throw notGood(`The token is longer than ${LIMITS.tokenCharsMax} characters`);
      const before = known.get(secret);
      const isGood = before && before.until > ticks() && before.goodUntil > wallTime();
      return isGood ? before.principal : check(secret);
    },
  };
}

function issuerOf(decode: () => JWTPayload): string | undefined {
  try {
    return decode().iss;
  } catch {
    throw notGood("The token is no JSON Web Token");
  }
}

interface Checked {
  readonly principal: Principal;
  /** In milliseconds. */
  readonly goodUntil: number;
}

function createCheck(
  issuer: JwtIssuer,
  { fetch, wallTime, ticks }: JwtParts,
): (secret: string) => Promise<Checked> {
  const keys = createIssuerKeys({ ...issuer, fetch, ticks });
  return async secret => {
    const { jwtVerify } = await import("jose");
    const { payload } = await jwtVerify(secret, keys, {
      issuer: issuer.issuer,
      audience: [...issuer.audience],
      algorithms: [...issuer.algorithms],
      clockTolerance: issuer.skewSeconds,
      currentDate: new Date(wallTime()),
      requiredClaims: ["exp"],
    }).catch(error => {
      throw toRefusal(error);
    });
    const goodUntil = ((payload.exp as number) + issuer.skewSeconds) * 1_000;
    const principal = toPrincipal(toBadge(payload, issuer.claims), () => wallTime() < goodUntil);
    return { principal, goodUntil };
  };
}

/** What jose says, in words for whoever holds the token. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "The token has expired",
  ERR_JWKS_NO_MATCHING_KEY: "The token is signed with a key that its issuer does not have",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "The token does not say which key it is signed with",
  ERR_JOSE_ALG_NOT_ALLOWED: "The token is signed in a way that is not taken here",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "The signature of the token is wrong",
};

function toRefusal(error: unknown): unknown {
  if (error instanceof Fault) return error;
  const { code, claim } = error as { readonly code?: string; readonly claim?: string };
  if (claim !== undefined && code !== "ERR_JWT_EXPIRED")
    return notGood(`The claim ${claim} of the token is not good here`);
  return notGood(REASONS[code ?? ""] ?? "The token cannot be checked");
}

const toScheme = ({ issuer, jwksUrl }: JwtIssuer, index: number): SecurityScheme => {
  const name = index === 0 ? "jwt" : `jwt${index + 1}`;
  if (jwksUrl !== undefined)
    return { name, kind: "bearer", format: "JWT", description: `A token of ${issuer}` };
  return { name, kind: "oidc", url: discoveryUrl(issuer) };
};
