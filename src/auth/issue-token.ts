import type { Json, JsonObject } from "../lib/json.ts";
import type { Identity } from "../model/index.ts";
import type { AccessToken, TokenStore } from "../ports/index.ts";
import { toHash, toSecret, toTokenId } from "./token.ts";

export interface IssueParts {
  readonly tokens: TokenStore;
  readonly wallTime: () => number;
  /** So many random bytes as lower-case hex. */
  readonly randomHex: (bytes: number) => string;
}

export interface NewTokenRequest extends Identity {
  readonly name: string | undefined;
  readonly expiresAt: number | undefined;
}

/** Issues a token. Its secret is returned once; only the hash is stored. */
export async function issueToken(
  { tokens, wallTime, randomHex }: IssueParts,
  request: NewTokenRequest,
): Promise<{ readonly secret: string; readonly token: AccessToken }> {
  const secret = toSecret(randomHex);
  const token = { ...request, id: toTokenId(randomHex), createdAt: wallTime() };
  await tokens.create({ ...token, hash: toHash(secret) });
  return { secret, token: { ...token, revokedAt: undefined, usedAt: undefined } };
}

const toTime = (ms: number | undefined): Json => (ms === undefined ? null : new Date(ms).toISOString());

/** A token as the admin endpoints and the command line show it: without its secret. */
export function toTokenJson(token: AccessToken): JsonObject {
  const { id, name = null, principal, tenants, grants, agents = null } = token;
  return {
    id,
    name,
    principal,
    tenants,
    agents,
    scopes: grants,
    createdAt: toTime(token.createdAt),
    expiresAt: toTime(token.expiresAt),
    revokedAt: toTime(token.revokedAt),
    lastUsedAt: toTime(token.usedAt),
  };
}
