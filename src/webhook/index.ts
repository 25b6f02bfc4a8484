/** For programs that receive what a Dragoman server delivers: whether it comes from there, whole and in time. */
import type { webcrypto } from "node:crypto";

/** What each delivery has beside its body. */
export const WEBHOOK_HEADERS = {
  /** The same at every attempt: whoever has seen it may leave the delivery aside. */
  id: "webhook-id",
  /** When this attempt was made, in seconds. */
  timestamp: "webhook-timestamp",
  /** With a shared secret: Standard Webhooks, `v1,` and base64. */
  signature: "webhook-signature",
  /** By a key of the server: a JWS (ES256) over the body, which stands in the middle of it for whoever checks it. */
  jws: "dragoman-signature",
} as const;

export interface Jwk {
  readonly kid?: string;
  readonly [member: string]: unknown;
}
export interface Jwks {
  readonly keys: readonly Jwk[];
}
/** Where public keys come from; it is asked for the key of this id. */
export type JwksSource = (kid: string) => Promise<Jwks>;

export interface WebhookParts {
  /** Of the request: as Node has them, or as `fetch` has them. */
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | { get(name: string): string | null };
  /** As it came, byte for byte: not what a framework has parsed. */
  readonly body: string | Uint8Array;
  /** The public keys of the server, or `remoteJwks(…)`. */
  readonly jwks?: Jwks | JwksSource;
  /** Where the server shows them: https://HOST/.well-known/jwks.json. They are fetched each time. */
  readonly jwksUrl?: string | URL;
  /** What the config was set with: `whsec_…`; several while one takes the place of another. */
  readonly secret?: string | readonly string[];
  /** How old a delivery may be, and how far ahead its clock; default: five minutes. */
  readonly toleranceMs?: number;
  /** Milliseconds; default: the time. */
  readonly now?: number;
}

export interface VerifiedWebhook {
  /** See `webhook-id`. */
  readonly id: string;
  /** When the attempt was made, in milliseconds. */
  readonly timestamp: number;
  /** The body as JSON. */
  readonly event: unknown;
}

/** Why a request is not to be believed. `code` is for programs. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly code: "header" | "time" | "key" | "signature" | "body";
  constructor(code: WebhookError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const TOLERANCE_MS = 5 * 60_000;

/** Throws unless the request is from the server whose keys or secret are given; all that is given is checked. */
export async function verifyWebhook(parts: WebhookParts): Promise<VerifiedWebhook> {
  const { jwks, jwksUrl, secret, toleranceMs = TOLERANCE_MS, now = Date.now() } = parts;
  if (jwks === undefined && jwksUrl === undefined && secret === undefined)
    throw new TypeError("verifyWebhook needs jwks, jwksUrl or secret: without one nothing can be checked");
  const body = typeof parts.body === "string" ? encoder.encode(parts.body) : parts.body;
  const id = need(parts, WEBHOOK_HEADERS.id);
  const seconds = Number(need(parts, WEBHOOK_HEADERS.timestamp));
  const timestamp = seconds * 1_000;
  if (!(Math.abs(now - timestamp) <= toleranceMs))
    throw new WebhookError("time", "The delivery is too old, or the clocks differ");
  if (secret !== undefined) await checkSecret(parts, { id, seconds, body }, [secret].flat());
  const source = jwks ?? (jwksUrl && remoteJwks(jwksUrl));
  if (source) await checkJws(parts, { id, seconds, body }, source);
  return { id, timestamp, event: parse(body) };
}

interface Said {
  readonly id: string;
  readonly seconds: number;
  readonly body: Uint8Array;
}

const encoder = new TextEncoder();

function need({ headers }: WebhookParts, name: string): string {
  const found =
    "get" in headers && typeof headers.get === "function" ? headers.get(name) : lookUp(headers, name);
  if (found) return found;
  throw new WebhookError("header", `The request has no header ${name}`);
}

function lookUp(headers: WebhookParts["headers"], name: string): string | undefined {
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return [entry?.[1]].flat()[0] as string | undefined;
}

/** Standard Webhooks: base64 of HMAC-SHA256 over `id.timestamp.body`; the header may have several, with spaces between. */
async function checkSecret(parts: WebhookParts, said: Said, secrets: readonly string[]): Promise<void> {
  const given = need(parts, WEBHOOK_HEADERS.signature)
    .split(" ")
    .filter(one => one.startsWith("v1,"))
    .map(one => fromBase64(one.slice(3)));
  const signed = concat(encoder.encode(`${said.id}.${said.seconds}.`), said.body);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const secret of secrets) {
    const bytes = fromBase64(secret.replace(/^whsec_/, ""));
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    for (const signature of given) if (await crypto.subtle.verify("HMAC", key, signature, signed)) return;
  }
  throw new WebhookError("signature", `${WEBHOOK_HEADERS.signature} does not belong to this body and secret`);
}

/** RFC 7515, appendix F: the payload is the body, and is left out of the header. */
async function checkJws(parts: WebhookParts, said: Said, source: Jwks | JwksSource): Promise<void> {
  const [head = "", payload, signature = "", ...more] = need(parts, WEBHOOK_HEADERS.jws).split(".");
  const claims = readHead(head);
  if (
    !claims ||
    payload !== "" ||
    more.length > 0 ||
    claims.alg !== "ES256" ||
    typeof claims.kid !== "string"
  )
    throw new WebhookError("signature", `${WEBHOOK_HEADERS.jws} is no detached JWS with ES256`);
  const jwks = typeof source === "function" ? await source(claims.kid) : source;
  const jwk = jwks.keys.find(one => one.kid === claims.kid);
  if (!jwk) throw new WebhookError("key", `There is no key ${claims.kid} among those of the server`);
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = await crypto.subtle.importKey("jwk", jwk as webcrypto.JsonWebKey, algorithm, false, ["verify"]);
  const signed = encoder.encode(`${head}.${toBase64Url(said.body)}`);
  const how = { name: "ECDSA", hash: "SHA-256" };
  const isGood = await crypto.subtle.verify(how, key, fromBase64(signature), signed);
  if (!isGood || claims.jti !== said.id || claims.iat !== said.seconds)
    throw new WebhookError("signature", `${WEBHOOK_HEADERS.jws} does not belong to this body, id and time`);
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

const KEEP_MS = 5 * 60_000;
const WAIT_MS = 10_000;

/** The keys that a server shows, kept for a while; asked for again when a key is not among them. */
export function remoteJwks(url: string | URL, options: { readonly fetch?: typeof fetch } = {}): JwksSource {
  const call = options.fetch ?? fetch;
  let known: { readonly jwks: Promise<Jwks>; readonly at: number } | undefined;
  const ask = (now: number): Promise<Jwks> => {
    const jwks = load(call, url);
    const asked = { jwks, at: now };
    known = asked;
    jwks.catch(() => {
      if (known === asked) known = undefined;
    });
    return jwks;
  };
  return async kid => {
    const now = performance.now();
    if (!known || now - known.at > KEEP_MS) return ask(now);
    const jwks = await known.jwks;
    const isKnown = jwks.keys.some(one => one.kid === kid);
    return isKnown || now - known.at < WAIT_MS ? jwks : ask(now);
  };
}

async function load(call: typeof fetch, url: string | URL): Promise<Jwks> {
  const response = await call(url, {
    headers: { accept: "application/json" },
    signal: AbortSignal.timeout(WAIT_MS),
  });
  const jwks = response.ok ? ((await response.json()) as Partial<Jwks>) : {};
  if (!Array.isArray(jwks.keys)) throw new WebhookError("key", `There are no keys at ${url}`);
  return jwks as Jwks;
}

/** Both alphabets, with and without what fills it up. What is no base64 gives bytes that fit nothing. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), sign => sign.charCodeAt(0));
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
