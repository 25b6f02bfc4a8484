import { LIMITS, tooManyTokens } from "../../model/index.ts";
import type { AccessToken, NewToken, TokenStore } from "../../ports/index.ts";

/** Tokens that go with the process. */
export function createMemoryTokenBook(): TokenStore {
  const byHash = new Map<string, AccessToken>();
  let revision = 0;

  const hashOf = (name: string): string | undefined =>
    byHash.has(name) ? name : [...byHash].find(([, token]) => token.id === name)?.[0];

  function change(hash: string, token: AccessToken): AccessToken {
    byHash.set(hash, token);
    return token;
  }

  return {
    find: hash => byHash.get(hash) ?? null,
    list: async () => [...byHash.values()].reverse().sort((one, other) => other.createdAt - one.createdAt),
    async create({ hash, ...token }: NewToken) {
      if (byHash.size >= LIMITS.tokensMax) throw tooManyTokens();
      revision += 1;
      change(hash, { ...token, revokedAt: undefined, usedAt: undefined });
    },
    async revoke(name, at) {
      const hash = hashOf(name);
      const token = hash === undefined ? undefined : byHash.get(hash);
      if (hash === undefined || !token) return null;
      if (token.revokedAt !== undefined) return token;
      revision += 1;
      return change(hash, { ...token, revokedAt: at });
    },
    revision: () => revision,
    recordUse(id, at) {
      const hash = hashOf(id);
      const token = hash === undefined ? undefined : byHash.get(hash);
      if (hash !== undefined && token) change(hash, { ...token, usedAt: at });
    },
    async close() {},
  };
}
