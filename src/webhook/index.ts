/** For receivers of webhooks: verifies the origin, the integrity and the time of a delivery. */
import type { webcrypto } from "node:crypto";

/** The headers of each delivery. */
export const WEBHOOK_HEADERS = {
  /** The same at every attempt: receivers that have seen it may ignore the delivery. */
  id: "webhook-id",
  /** The time of this attempt, in seconds. */
  timestamp: "webhook-timestamp",
  /** With a shared secret: a Standard Webhooks signature, `v1,` and base64. */
  signature: "webhook-signature",
  /** With a key of the server: a detached JWS (ES256) over the body. */
  jws: "dragoman-signature",
} as const;

export interface Jwk {
  readonly kid?: string;
  readonly [member: string]: unknown;
}
export interface Jwks {
  readonly keys: readonly Jwk[];
}
/** Gets the public keys; called with the id of the key that is needed. */
export type JwksSource = (kid: string) => Promise<Jwks>;

export interface WebhookParts {
  /** Of the request: as an object of Node, or as a `Headers` of `fetch`. */
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | { get(name: string): string | null };
  /** The raw body, byte for byte: not parsed by a framework. */
  readonly body: string | Uint8Array;
  /** The public keys of the server, or `remoteJwks(…)`. */
  readonly jwks?: Jwks | JwksSource;
  /** The URL of the keys: https://HOST/.well-known/jwks.json. They are fetched each time. */
  readonly jwksUrl?: string | URL;
  /** The secret of the config: `whsec_…`; several during a rotation. */
  readonly secret?: string | readonly string[];
  /** The tolerated age of a delivery, and clock skew; default: five minutes. */
  readonly toleranceMs?: number;
  /** Milliseconds; default: the current time. */
  readonly now?: number;
}

export interface VerifiedWebhook {
  /** See `webhook-id`. */
  readonly id: string;
  /** The time of the attempt, in milliseconds. */
  readonly timestamp: number;
  /** The body as JSON. */
  readonly event: unknown;
}

/** The request is not authentic. `code` is for programs. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly code: "header" | "time" | "key" | "signature" | "body";
  constructor(code: WebhookError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const TOLERANCE_MS = 5 * 60_000;

/** Throws unless the request is from the server with these keys or secret; if both are given, both are checked. */
export async function verifyWebhook(parts: WebhookParts): Promise<VerifiedWebhook> {
  const { jwks, jwksUrl, secret, toleranceMs = TOLERANCE_MS, now = Date.now() } = parts;
  if (jwks === undefined && jwksUrl === undefined && secret === undefined)
    throw new TypeError("verifyWebhook needs jwks, jwksUrl or secret");
  const body = typeof parts.body === "string" ? encoder.encode(parts.body) : parts.body;
  const id = requireHeader(parts, WEBHOOK_HEADERS.id);
  const seconds = Number(requireHeader(parts, WEBHOOK_HEADERS.timestamp));
  const timestamp = seconds * 1_000;
  if (!(Math.abs(now - timestamp) <= toleranceMs))
    throw new WebhookError("time", "The delivery is too old, or the clocks differ");
  if (secret !== undefined) await checkSecret(parts, { id, seconds, body }, [secret].flat());
  const source = jwks ?? (jwksUrl && remoteJwks(jwksUrl));
  if (source) await checkJws(parts, { id, seconds, body }, source);
  return { id, timestamp, event: parse(body) };
}

interface SignedContent {
  readonly id: string;
  readonly seconds: number;
  readonly body: Uint8Array;
}

const encoder = new TextEncoder();

function requireHeader({ headers }: WebhookParts, name: string): string {
  const found =
    "get" in headers && typeof headers.get === "function" ? headers.get(name) : findHeader(headers, name);
  if (found) return found;
  throw new WebhookError("header", `The request has no header ${name}`);
}

function findHeader(headers: WebhookParts["headers"], name: string): string | undefined {
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return [entry?.[1]].flat()[0] as string | undefined;
}

/** Standard Webhooks: base64 of HMAC-SHA256 over `id.timestamp.body`; the header may have several, separated by spaces. */
async function checkSecret(
  parts: WebhookParts,
  signed: SignedContent,
  secrets: readonly string[],
): Promise<void> {
  const given = requireHeader(parts, WEBHOOK_HEADERS.signature)
    .split(" ")
    .filter(one => one.startsWith("v1,"))
    .map(one => fromBase64(one.slice(3)));
  const content = concat(encoder.encode(`${signed.id}.${signed.seconds}.`), signed.body);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const secret of secrets) {
    const bytes = fromBase64(secret.replace(/^whsec_/, ""));
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    for (const signature of given) if (await crypto.subtle.verify("HMAC", key, signature, content)) return;
  }
  throw new WebhookError("signature", `${WEBHOOK_HEADERS.signature} does not match the body and the secret`);
}

/** RFC 7515, appendix F: the payload is the body, and is omitted from the header. */
async function checkJws(
  parts: WebhookParts,
  signed: SignedContent,
  source: Jwks | JwksSource,
): Promise<void> {
  const [head = "", payload, signature = "", ...more] = requireHeader(parts, WEBHOOK_HEADERS.jws).split(".");
  const claims = readHead(head);
  if (
    !claims ||
    payload !== "" ||
    more.length > 0 ||
    claims.alg !== "ES256" ||
    typeof claims.kid !== "string"
  )
    throw new WebhookError("signature", `${WEBHOOK_HEADERS.jws} is not a detached JWS with ES256`);
  const jwks = typeof source === "function" ? await source(claims.kid) : source;
  const jwk = jwks.keys.find(one => one.kid === claims.kid);
  if (!jwk) throw new WebhookError("key", `Key ${claims.kid} not found in the JWKS`);
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = await crypto.subtle.importKey("jwk", jwk as webcrypto.JsonWebKey, algorithm, false, ["verify"]);
  const content = encoder.encode(`${head}.${toBase64Url(signed.body)}`);
  const hashed = { name: "ECDSA", hash: "SHA-256" };
  const isValid = await crypto.subtle.verify(hashed, key, fromBase64(signature), content);
  if (!isValid || claims.jti !== signed.id || claims.iat !== signed.seconds)
    throw new WebhookError("signature", `${WEBHOOK_HEADERS.jws} does not match the body, id and time`);
}

function readHead(head: string): Readonly<Record<string, unknown>> | null {
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(fromBase64(head)));
    return typeof claims === "object" ? (claims as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new WebhookError("body", "The body is not JSON");
  }
}

const CACHE_MS = 5 * 60_000;
const TIMEOUT_MS = 10_000;
/** Between two fetches because of a missing key. */
const REFETCH_MS = 10_000;

/** The keys at a URL, cached for a while; fetched again when a key is missing. */
export function remoteJwks(url: string | URL, options: { readonly fetch?: typeof fetch } = {}): JwksSource {
  const doFetch = options.fetch ?? fetch;
  let cached: { readonly jwks: Promise<Jwks>; readonly at: number } | undefined;
  const load = (now: number): Promise<Jwks> => {
    const jwks = fetchJwks(doFetch, url);
    const entry = { jwks, at: now };
    cached = entry;
    jwks.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return jwks;
  };
  return async kid => {
    const now = performance.now();
    if (!cached || now - cached.at > CACHE_MS) return load(now);
    const jwks = await cached.jwks;
    const isKnown = jwks.keys.some(one => one.kid === kid);
    return isKnown || now - cached.at < REFETCH_MS ? jwks : load(now);
  };
}

async function fetchJwks(doFetch: typeof fetch, url: string | URL): Promise<Jwks> {
  const response = await doFetch(url, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const jwks = response.ok ? ((await response.json()) as Partial<Jwks>) : {};
  if (!Array.isArray(jwks.keys)) throw new WebhookError("key", `No JWKS found at ${url}`);
  return jwks as Jwks;
}

/** Both alphabets, with and without padding. Invalid base64 gives no bytes, which match no signature. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), character =>
      character.charCodeAt(0),
    );
  } catch {
    return new Uint8Array();
  }
}

const CHUNK = 0x8000;

function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += CHUNK) text += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
