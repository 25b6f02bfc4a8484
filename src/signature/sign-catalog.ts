import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../lib/json.ts";
import type { CardResult, Dialect, Signer } from "../ports/index.ts";
import { toCanonicalJson } from "./canonical.ts";
import { JWKS_PATH } from "./sign.ts";

export interface CatalogSigningParts {
  readonly signer: Signer;
  /** The number of manifests that are cached. */
  readonly entriesMax: number;
  readonly isOwnBase: (base: string) => boolean;
  /** The card as a request for its URL gets it, byte for byte. */
  readonly toCardText: (card: CardResult) => string;
  readonly wallTime: () => number;
}

/**
 * AI Catalog 1.0, "Trust Manifest": each entry names the digest of its card, signed with the keys of the cards. A signature
 * differs from the last one over the same content, so manifests are cached: an unchanged catalog has the same bytes.
 */
export function createCatalogSigning(parts: CatalogSigningParts): (dialect: Dialect) => Dialect {
  const { signer, entriesMax, isOwnBase, toCardText, wallTime } = parts;
  const cache = new Map<string, JsonObject>();

  function manifestOf(entry: JsonObject, card: CardResult): JsonObject {
    const { identifier, type, url, version } = entry as Record<string, Json>;
    const digest = `sha256:${createHash("sha256").update(toCardText(card)).digest("hex")}`;
    const identity = `${card.base}${JWKS_PATH}`;
    const subject = { identifier, version, url, type, digest } as JsonObject;
    const key = [signer.kid, identity, JSON.stringify(subject)].join(" ");
    const manifest = cache.get(key) ?? sign({ identity, subject, issuedAt: toTimestamp(wallTime()) });
    // The least recently used entry is the first.
    cache.delete(key);
    cache.set(key, manifest);
    if (cache.size > entriesMax) cache.delete(cache.keys().next().value as string);
    return manifest;
  }

  /** A detached JWS (RFC 7515, appendix F) over the canonical form. */
  function sign(manifest: JsonObject): JsonObject {
    const { protected: head, signature } = signer.sign(toCanonicalJson(manifest), { typ: "JOSE" });
    return { ...manifest, signature: `${head}..${signature}` };
  }

  return dialect => ({
    ...dialect,
    encode(operation, result) {
      const json = dialect.encode(operation, result);
      if (result.kind !== "agents" || operation.form !== "ai-catalog" || !isOwnBase(result.base)) return json;
      const catalog = json as { readonly entries: readonly JsonObject[] };
      const entries = catalog.entries.map((entry, i) => {
        return { ...entry, trustManifest: manifestOf(entry, result.cards[i] as CardResult) };
      });
      return { ...catalog, entries };
    },
  });
}

const toTimestamp = (ms: number): string => new Date(ms).toISOString();
