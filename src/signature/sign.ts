import type { JsonObject } from "../lib/json.ts";
import type { Dialect, Signer } from "../ports/index.ts";
import { payloadsOf } from "./payloads.ts";

export interface SigningParts {
  readonly signer: Signer;
  /** Cards whose signatures are kept. */
  readonly entriesMax: number;
  /** Whether a base leads to this server; cards for other bases are not signed. */
  readonly isOwnBase: (base: string) => boolean;
}

/** Where the keys are that signatures can be checked with. */
export const KEYS_PATH = "/.well-known/jwks.json";

/**
 * Signs the cards of a dialect that has a place for it. A signature is different each time it is made: it is made once
 * for each document, so that what did not change still looks the same.
 */
export function createSigning(parts: SigningParts): (dialect: Dialect) => Dialect {
  const { signer, entriesMax, isOwnBase } = parts;
  const known = new Map<string, readonly JsonObject[]>();

  function signaturesOf(card: JsonObject, jku: string): readonly JsonObject[] {
    const key = [signer.kid, jku, JSON.stringify(card)].join(" ");
    const made =
      known.get(key) ?? payloadsOf(card).map(({ text }) => signer.sign(text, { typ: "JOSE", jku }));
    known.delete(key);
    known.set(key, made);
    if (known.size > entriesMax) known.delete(known.keys().next().value as string);
    return made;
  }

  return dialect => ({
    ...dialect,
    encode(operation, answer) {
      const said = dialect.encode(operation, answer);
      if (answer.kind !== "card" || !dialect.signsCards || !isOwnBase(answer.base)) return said;
      const card = said as JsonObject;
      return { ...card, signatures: signaturesOf(card, `${answer.base}${KEYS_PATH}`) };
    },
  });
}
