import type { JsonObject } from "../lib/json.ts";
import type { Dialect, Signer } from "../ports/index.ts";
import { toSignedPayloads } from "./payloads.ts";

export interface CardSigningParts {
  readonly signer: Signer;
  /** The number of cards whose signatures are cached. */
  readonly entriesMax: number;
  /** Whether a base URL is one of this server; cards for other base URLs are not signed. */
  readonly isOwnBase: (base: string) => boolean;
}

/** The public keys: the `jku` of the signatures. */
export const JWKS_PATH = "/.well-known/jwks.json";

/**
 * Signs the cards of a dialect whose cards have signatures. A new signature differs from the last one over the same card,
 * so it is cached: an unchanged card has the same bytes and the same ETag.
 */
export function createCardSigning(parts: CardSigningParts): (dialect: Dialect) => Dialect {
  const { signer, entriesMax, isOwnBase } = parts;
  const cache = new Map<string, readonly JsonObject[]>();

  function signaturesOf(card: JsonObject, jku: string): readonly JsonObject[] {
    const key = [signer.kid, jku, JSON.stringify(card)].join(" ");
    const signatures =
      cache.get(key) ?? toSignedPayloads(card).map(({ text }) => signer.sign(text, { typ: "JOSE", jku }));
    // The least recently used entry is the first.
    cache.delete(key);
    cache.set(key, signatures);
    if (cache.size > entriesMax) cache.delete(cache.keys().next().value as string);
    return signatures;
  }

  return dialect => ({
    ...dialect,
    encode(operation, result) {
      const json = dialect.encode(operation, result);
      if (result.kind !== "card" || !dialect.signsCards || !isOwnBase(result.base)) return json;
      const card = json as JsonObject;
      return { ...card, signatures: signaturesOf(card, `${result.base}${JWKS_PATH}`) };
    },
  });
}
