import type { Json, JsonObject } from "../lib/json.ts";
import type { Identity } from "../model/index.ts";
import type { AccessToken, TokenStore } from "../ports/index.ts";
import { toHash, toSecret, toTokenId } from "./token.ts";

export interface IssueParts {
  readonly book: TokenStore;
  readonly wallTime: () => number;
  /** That many bytes of chance, as lower-case hex. */
  readonly chance: (bytes: number) => string;
}

export interface TokenWish extends Identity {
  readonly name: string | undefined;
  readonly expiresAt: number | undefined;
}

/** Makes a token; its secret is never seen again. */
export async function issueToken(
  { book, wallTime, chance }: IssueParts,
  wish: TokenWish,
): Promise<{ readonly secret: string; readonly token: AccessToken }> {
  const secret = toSecret(chance);
  const token = { ...wish, id: toTokenId(chance), createdAt: wallTime() };
  await book.create({ ...token, hash: toHash(secret) });
  return { secret, token: { ...token, revokedAt: undefined, usedAt: undefined } };
}

const toTime = (ms: number | undefined): Json => (ms === undefined ? null : new Date(ms).toISOString());

/** All but what is secret, and that is not known here any more. */
export function writeToken(token: AccessToken): JsonObject {
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
