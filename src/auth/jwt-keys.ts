import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";

export interface IssuerKeysParts {
  readonly issuer: string;
  /** undefined: found by OpenID Connect Discovery. */
  readonly jwksUrl: string | undefined;
  readonly fetch: Fetch;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

interface KeySet {
  readonly find: JWTVerifyGetKey;
  readonly fetchedAt: number;
}

/**
 * The public keys of an issuer. They are fetched when a token needs them, and again when they are old or when a token
 * names an unknown key; at most once per `issuerRetryMs` for each reason, whatever tokens arrive.
 */
export function createIssuerKeys(parts: IssuerKeysParts): JWTVerifyGetKey {
  const { ticks } = parts;
  let known: KeySet | undefined;
  /** Last fetch because the keys were old, and because a key was unknown. */
  const askedAt = { age: Number.NEGATIVE_INFINITY, miss: Number.NEGATIVE_INFINITY };
  let fetching: Promise<KeySet> | undefined;

  /** undefined: fetched a moment ago for the same reason. */
  function refresh(why: keyof typeof askedAt): Promise<KeySet> | undefined {
    if (fetching) return fetching;
    if (ticks() - askedAt[why] < LIMITS.issuerRetryMs) return undefined;
    askedAt[why] = ticks();
    fetching = fetchKeys(parts)
      .then(find => (known = { find, fetchedAt: ticks() }))
      .catch(cause => {
        throw unreachable(parts.issuer, cause);
      })
      .finally(() => (fetching = undefined));
    return fetching;
  }

  /** While the issuer cannot be reached, old keys are used for `issuerKeysStaleMs`. */
  async function current(): Promise<KeySet> {
    const ageMs = known ? ticks() - known.fetchedAt : Number.POSITIVE_INFINITY;
    if (known && ageMs < LIMITS.issuerKeysMs) return known;
    const stale = ageMs < LIMITS.issuerKeysStaleMs ? known : undefined;
    const fresh = refresh("age")?.catch(error => stale ?? Promise.reject(error));
    const keys = fresh ? await fresh : stale;
    if (keys) return keys;
    throw unreachable(parts.issuer);
  }

  return async (header, token) => {
    const keys = await current();
    try {
      return await keys.find(header, token);
    } catch (error) {
      const fresh = isUnknownKey(error) && (await refresh("miss"));
      if (!fresh) throw error;
      return fresh.find(header, token);
    }
  };
}

const isUnknownKey = (error: unknown): boolean =>
  (error as { readonly code?: string }).code === "ERR_JWKS_NO_MATCHING_KEY";

async function fetchKeys(parts: IssuerKeysParts): Promise<JWTVerifyGetKey> {
  const { createLocalJWKSet } = await import("jose");
  const url = parts.jwksUrl ?? (await discover(parts));
  return createLocalJWKSet((await fetchJson(url, parts.fetch)) as unknown as JSONWebKeySet);
}

/** OpenID Connect Discovery §4. */
async function discover({ issuer, fetch }: IssuerKeysParts): Promise<string> {
  const url = discoveryUrl(issuer);
  const found = await fetchJson(url, fetch);
  if (found.issuer !== issuer)
    throw new Error(`${url} belongs to another issuer: ${JSON.stringify(found.issuer)}`);
  if (typeof found.jwks_uri === "string" && URL.canParse(found.jwks_uri)) return found.jwks_uri;
  throw new Error(`${url} has no jwks_uri`);
}

export const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

async function fetchJson(url: string, fetch: Fetch): Promise<JsonObject> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(LIMITS.issuerAnswerMs),
  });
  const found = response.status === 200 ? ((await response.json()) as Json) : undefined;
  if (isObject(found)) return found;
  throw new Error(`${url} answered ${response.status} without a JSON object`);
}

const unreachable = (issuer: string, cause?: unknown): Fault =>
  new Fault(
    "unavailable",
    `The keys of the token issuer ${issuer} cannot be fetched; try again later`,
    { retryAfterMs: LIMITS.issuerRetryMs },
    cause,
  );
