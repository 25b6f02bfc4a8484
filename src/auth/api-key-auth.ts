import type { ApiKey } from "../model/index.ts";
import type { AuthMethod, Principal } from "../ports/index.ts";
import { notGood, otherChallenge } from "./bearer.ts";
import { createKnown } from "./identity-cache.ts";
import { toPrincipal } from "./principal.ts";
import { toHash } from "./token.ts";

export interface ApiKeyParts {
  readonly keys: readonly ApiKey[];
  readonly header: string;
}

/** Keys in a header, as many gateways have them. */
export function createApiKeyProof({ keys, header }: ApiKeyParts): AuthMethod {
  const byHash = new Map<string, Principal>(keys.map(key => [key.hash, toPrincipal(key, () => true)]));
  const known = createKnown<Principal>();
  const name = header.toLowerCase();
  return {
    schemes: [{ name: "apiKey", kind: "api-key", header }],
    challenge: () => otherChallenge("ApiKey", `, header="${header}"`),
    authenticate({ headers }) {
      const key = headers[name];
      if (key === undefined) return undefined;
      const before = known.get(key);
      if (before) return before;
      const principal = byHash.get(toHash(key));
      if (principal) return known.keep(key, principal);
      throw notGood(`The key in ${header} is not known here`);
    },
  };
}
