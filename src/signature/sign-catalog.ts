import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../lib/json.ts";
import type { CardResult, Dialect, Signer } from "../ports/index.ts";
import { toCanonicalJson } from "./canonical.ts";
import { toDid, toKeyUrl } from "./did-web.ts";

export interface CatalogSigningParts {
  readonly signer: Signer;
  /** The number of manifests that are cached. */
  readonly entriesMax: number;
  readonly isOwnBase: (base: string) => boolean;
  /** The card as a request for its URL gets it, byte for byte. */
  readonly toCardText: (card: CardResult) => string;
  readonly wallTime: () => number;
}

/** AI Catalog 1.0, "Signed Payload and JWS Construction". */
const MANIFEST_TYPE = "ai-catalog-trust-manifest+jws";

/**
 * AI Catalog 1.0, "Trust Manifest": each entry names the digest of its card, and a server that has a DID signs it with the
 * keys of the cards. A signature differs from the last one over the same content, so manifests are cached: an unchanged
 * catalog has the same bytes.
 */
export function createCatalogSigning(parts: CatalogSigningParts): (dialect: Dialect) => Dialect {
  const { signer, entriesMax, isOwnBase, toCardText, wallTime } = parts;
  const cache = new Map<string, JsonObject>();

  function withDigest(entry: JsonObject, card: CardResult): JsonObject {
    const digest = `sha256:${createHash("sha256").update(toCardText(card)).digest("hex")}`;
    const did = toDid(card.base);
    if (did === undefined) return { ...entry, digest };
    return { ...entry, digest, trustManifests: [manifestOf({ ...entry, digest }, did)] };
  }

  function manifestOf(entry: JsonObject, did: string): JsonObject {
    const { identifier, version, url, type, digest } = entry as Record<string, Json>;
    const subject = { identifier, version, url, type, digest } as JsonObject;
    const key = [signer.kid, did, JSON.stringify(subject)].join(" ");
    const manifest = cache.get(key) ?? sign(subject, did);
    // The least recently used entry is the first.
    cache.delete(key);
    cache.set(key, manifest);
    if (cache.size > entriesMax) cache.delete(cache.keys().next().value as string);
    return manifest;
  }

  /** A detached JWS (RFC 7515, appendix F) over the canonical form of the manifest without it. */
  function sign(subject: JsonObject, did: string): JsonObject {
    const signature = { signer: did, profile: "did-web-v1", issuedAt: toTimestamp(wallTime()) };
    const manifest = { contributor: did, subject, signature };
    const header = { typ: MANIFEST_TYPE, kid: toKeyUrl(did, signer.kid) };
    const { protected: head, signature: proof } = signer.sign(toCanonicalJson(manifest), header);
    return { ...manifest, signature: { ...signature, jws: `${head}..${proof}` } };
  }

  return dialect => ({
    ...dialect,
    encode(operation, result) {
      const json = dialect.encode(operation, result);
      if (result.kind !== "agents" || operation.form !== "ai-catalog" || !isOwnBase(result.base)) return json;
      const catalog = json as { readonly entries: readonly JsonObject[] };
      const entries = catalog.entries.map((entry, i) => withDigest(entry, result.cards[i] as CardResult));
      return { ...catalog, entries };
    },
  });
}

const toTimestamp = (ms: number): string => new Date(ms).toISOString();
