import { LIMITS, tooManyTokens } from "../../model/index.ts";
import type { AccessToken, NewToken, TokenStore } from "../../ports/index.ts";

/** Tokens that are lost when the process ends. */
export function createMemoryTokenStore(): TokenStore {
  const byHash = new Map<string, AccessToken>();
  let revision = 0;

  /** `name`: the hash or the id of a token. */
  function update(name: string, change: (token: AccessToken) => AccessToken): AccessToken | null {
    const hash = byHash.has(name) ? name : [...byHash].find(([, token]) => token.id === name)?.[0];
    const token = hash === undefined ? undefined : byHash.get(hash);
    if (hash === undefined || !token) return null;
    const changed = change(token);
    byHash.set(hash, changed);
    return changed;
  }

  return {
    find: hash => byHash.get(hash) ?? null,
    list: async () => [...byHash.values()].reverse().sort((one, other) => other.createdAt - one.createdAt),
    async create({ hash, ...token }: NewToken) {
      if (byHash.size >= LIMITS.tokensMax) throw tooManyTokens();
      revision += 1;
      byHash.set(hash, { ...token, revokedAt: undefined, usedAt: undefined });
    },
    async revoke(name, at) {
      return update(name, token => {
        if (token.revokedAt !== undefined) return token;
        revision += 1;
        return { ...token, revokedAt: at };
      });
    },
    revision: () => revision,
    recordUse(id, at) {
      update(id, token => ({ ...token, usedAt: at }));
    },
    async close() {},
  };
}
