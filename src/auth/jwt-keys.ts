import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";

export interface IssuerKeysParts {
  readonly issuer: string;
  /** undefined: the issuer is asked where its keys are. */
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
 * The keys that an issuer signs with. They are fetched when a token needs them, and anew when they are old or when a token
 * names one that is not among them; but never more often than the issuer is left alone, whatever tokens come.
 */
export function createIssuerKeys(parts: IssuerKeysParts): JWTVerifyGetKey {
  const { ticks } = parts;
  let known: KeySet | undefined;
  /** When the issuer was asked last, because there were no good keys, and because one was missing. */
  const askedAt = { age: Number.NEGATIVE_INFINITY, miss: Number.NEGATIVE_INFINITY };
  let trying: Promise<KeySet> | undefined;

  /** undefined: the issuer was asked a moment ago, for the same reason. */
  function refresh(why: keyof typeof askedAt): Promise<KeySet> | undefined {
    if (trying) return trying;
    if (ticks() - askedAt[why] < LIMITS.issuerRestMs) return undefined;
    askedAt[why] = ticks();
    trying = fetchKeys(parts)
      .then(find => (known = { find, fetchedAt: ticks() }))
      .catch(cause => {
        throw unreachable(parts.issuer, cause);
      })
      .finally(() => (trying = undefined));
    return trying;
  }

  /** Old keys are better than none while the issuer cannot be reached, for a while. */
  async function current(): Promise<KeySet> {
    const ageMs = known ? ticks() - known.fetchedAt : Number.POSITIVE_INFINITY;
    if (known && ageMs < LIMITS.issuerKeysMs) return known;
    const lasting = ageMs < LIMITS.issuerKeysLastMs ? known : undefined;
    const fresh = refresh("age")?.catch(error => lasting ?? Promise.reject(error));
    const keys = fresh ? await fresh : lasting;
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
    throw new Error(`${url} is of another issuer: ${JSON.stringify(found.issuer)}`);
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
  throw new Error(`${url} gives ${response.status}, and no JSON object`);
}

/** Neither the caller's fault nor ours; what the cause is stands in the log. */
const unreachable = (issuer: string, cause?: unknown): Fault =>
  new Fault(
    "unavailable",
    `The keys of ${issuer} cannot be fetched, so that its tokens cannot be checked; try again soon`,
    { retryAfterMs: LIMITS.issuerRestMs },
    cause,
  );
