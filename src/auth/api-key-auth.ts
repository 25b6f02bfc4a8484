import type { ApiKey } from "../model/index.ts";
import type { AuthMethod, Principal } from "../ports/index.ts";
import { challengeFor, invalidCredentials } from "./bearer.ts";
import { createIdentityCache } from "./identity-cache.ts";
import { toPrincipal } from "./principal.ts";
import { toHash } from "./token.ts";

export interface ApiKeyParts {
  readonly keys: readonly ApiKey[];
  readonly header: string;
}

/** API keys in a request header. */
export function createApiKeyAuth({ keys, header }: ApiKeyParts): AuthMethod {
  const byHash = new Map<string, Principal>(keys.map(key => [key.hash, toPrincipal(key, () => true)]));
  const cache = createIdentityCache<Principal>();
  const name = header.toLowerCase();
  return {
    schemes: [{ name: "apiKey", kind: "api-key", header }],
    challenge: () => challengeFor("ApiKey", `, header="${header}"`),
    authenticate({ headers }) {
      const key = headers[name];
      if (key === undefined) return undefined;
      const cached = cache.get(key);
      if (cached) return cached;
      const principal = byHash.get(toHash(key));
      if (principal) return cache.set(key, principal);
      throw invalidCredentials(`Unknown API key in ${header}`);
    },
  };
}
