import type { JWTPayload } from "jose";
import { Fault, type JwtIssuer, LIMITS, type SecurityScheme } from "../model/index.ts";
import type { AuthMethod, Fetch, Principal } from "../ports/index.ts";
import { bearerChallenge, bearerOf, invalidCredentials } from "./bearer.ts";
import { createIdentityCache } from "./identity-cache.ts";
import { toIdentity } from "./jwt-claims.ts";
import { createIssuerKeys, discoveryUrl } from "./jwt-keys.ts";
import { toPrincipal } from "./principal.ts";
import { isToken } from "./token.ts";

export interface JwtParts {
  readonly issuers: readonly JwtIssuer[];
  readonly fetch: Fetch;
  /** For `exp` and `nbf`. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

interface CachedJwt extends VerifiedJwt {
  /** In ticks: after this the token is verified again. */
  readonly until: number;
}

/** JSON Web Tokens of other issuers (RFC 7519). A signature is expensive to verify, so a verified token is cached for a moment. */
export function createJwtAuth(parts: JwtParts): AuthMethod {
  const { wallTime, ticks } = parts;
  const cache = createIdentityCache<CachedJwt>();
  const byName = new Map(parts.issuers.map(one => [one.issuer, createVerifier(one, parts)]));

  async function verifyToken(secret: string): Promise<Principal> {
    const { decodeJwt } = await import("jose");
    const verify = byName.get(issuerOf(() => decodeJwt(secret)) ?? "");
    if (!verify) throw invalidCredentials("Unknown token issuer");
    const verified = await verify(secret);
    cache.set(secret, { ...verified, until: ticks() + LIMITS.cachedJwtMs });
    return verified.principal;
  }

  return {
    schemes: parts.issuers.map(toScheme),
    challenge: bearerChallenge,
    authenticate({ headers }) {
      const secret = bearerOf(headers);
      if (secret === undefined || isToken(secret)) return undefined;
      if (secret.length > LIMITS.tokenCharsMax)
        throw invalidCredentials(`The token is longer than ${LIMITS.tokenCharsMax} characters`);
      const cached = cache.get(secret);
      const isFresh = cached && cached.until > ticks() && cached.expiresAt > wallTime();
      return isFresh ? cached.principal : verifyToken(secret);
    },
  };
}

function issuerOf(decode: () => JWTPayload): string | undefined {
  try {
    return decode().iss;
  } catch {
    throw invalidCredentials("The token is not a JSON Web Token");
  }
}

interface VerifiedJwt {
  readonly principal: Principal;
  /** In milliseconds. */
  readonly expiresAt: number;
}

function createVerifier(
  issuer: JwtIssuer,
  { fetch, wallTime, ticks }: JwtParts,
): (secret: string) => Promise<VerifiedJwt> {
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
      throw toAuthFault(error);
    });
    const expiresAt = ((payload.exp as number) + issuer.skewSeconds) * 1_000;
    const principal = toPrincipal(toIdentity(payload, issuer.claims), () => wallTime() < expiresAt);
    return { principal, expiresAt };
  };
}

/** The error codes of jose as messages for the caller. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "The token has expired",
  ERR_JWKS_NO_MATCHING_KEY: "The token is signed with a key that its issuer does not publish",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "The token does not name its key (kid), and several keys match",
  ERR_JOSE_ALG_NOT_ALLOWED: "Unsupported signature algorithm",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "Invalid token signature",
};

function toAuthFault(error: unknown): unknown {
  if (error instanceof Fault) return error;
  const { code, claim } = error as { readonly code?: string; readonly claim?: string };
  if (claim !== undefined && code !== "ERR_JWT_EXPIRED")
    return invalidCredentials(`Invalid token claim: ${claim}`);
  return invalidCredentials(REASONS[code ?? ""] ?? "The token cannot be verified");
}

const toScheme = ({ issuer, jwksUrl }: JwtIssuer, index: number): SecurityScheme => {
  const name = index === 0 ? "jwt" : `jwt${index + 1}`;
  if (jwksUrl !== undefined)
    return { name, kind: "bearer", format: "JWT", description: `A token of ${issuer}` };
  return { name, kind: "oidc", url: discoveryUrl(issuer) };
};
