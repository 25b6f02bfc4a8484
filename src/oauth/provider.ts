import { createHash } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { OAuthProvider } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";

/** What a provider gives for a code or for a refresh token. */
export interface Tokens {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly refreshToken?: string;
  readonly scopes?: readonly string[];
  readonly expiresInMs?: number;
}

/** A provider that answers, and says no: what was handed in is not good, or no longer. */
export class TokenRefusal extends Error {
  override readonly name = "TokenRefusal";
}

export interface TokenParts {
  readonly fetch: Fetch;
  /** How long an answer may take. */
  readonly waitMs: number;
  readonly bytesMax: number;
}

/** RFC 6749 §4.1.1, RFC 7636 §4.3. */
export function authorizationUrl(
  provider: OAuthProvider,
  asked: {
    readonly redirectUri: string;
    readonly scopes: readonly string[];
    readonly state: string;
    readonly verifier: string;
  },
): string {
  const url = new URL(provider.authorizationUrl);
  const scopes = [...new Set([...(provider.scopes ?? []), ...asked.scopes])];
  const query = {
    ...provider.parameters,
    response_type: "code",
    client_id: provider.clientId,
    redirect_uri: asked.redirectUri,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    state: asked.state,
    code_challenge: createHash("sha256").update(asked.verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** RFC 6749 §4.1.3. */
export const exchangeCode = (
  parts: TokenParts,
  provider: OAuthProvider,
  asked: { readonly code: string; readonly redirectUri: string; readonly verifier: string },
): Promise<Tokens> =>
  askForTokens(parts, provider, {
    grant_type: "authorization_code",
    code: asked.code,
    redirect_uri: asked.redirectUri,
    code_verifier: asked.verifier,
  });

/** RFC 6749 §6. */
export const renewTokens = (
  parts: TokenParts,
  provider: OAuthProvider,
  refreshToken: string,
): Promise<Tokens> =>
  askForTokens(parts, provider, { grant_type: "refresh_token", refresh_token: refreshToken });

async function askForTokens(
  parts: TokenParts,
  provider: OAuthProvider,
  form: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const { clientId, clientSecret, clientAuthentication = "post" } = provider;
  const isBasic = clientSecret !== undefined && clientAuthentication === "basic";
  const body = new URLSearchParams({
    ...form,
    ...(!isBasic && { client_id: clientId }),
    ...(!isBasic && clientSecret !== undefined && { client_secret: clientSecret }),
  });
  const response = await parts.fetch(provider.tokenUrl, {
    method: "POST",
    headers: {
      Accept: "application/json",
      "Content-Type": "application/x-www-form-urlencoded",
      ...(isBasic && { Authorization: toBasic(clientId, clientSecret) }),
    },
    body: body.toString(),
    signal: AbortSignal.timeout(parts.waitMs),
  });
  const answer = parse(await readText(response, parts.bytesMax));
  // Some say with 200 that they will not (RFC 6749 §5.2 notwithstanding).
  if (typeof answer.error === "string") throw new TokenRefusal(`the provider says ${word(answer.error)}`);
  if (!response.ok) throw new Error(`the provider answers with HTTP ${response.status}`);
  return toTokens(answer);
}

const toBasic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;

/** One of the words of RFC 6749 §5.2: anything else might hold what must not be told. */
const word = (error: string): string => (/^[a-z_]{1,40}$/.test(error) ? error : "no");

async function readText(response: Response, bytesMax: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new Error(`the provider answers with more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parse(text: string): JsonObject {
  try {
    const answer = JSON.parse(text) as Json;
    return isObject(answer) ? answer : {};
  } catch {
    return {};
  }
}

function toTokens(answer: JsonObject): Tokens {
  const { access_token, token_type, refresh_token, scope, expires_in } = answer;
  if (typeof access_token !== "string" || access_token === "")
    throw new Error("the provider answers without an access token");
  const seconds = Number(expires_in);
  return {
    accessToken: access_token,
    tokenType: typeof token_type === "string" ? token_type : "Bearer",
    ...(typeof refresh_token === "string" && { refreshToken: refresh_token }),
    ...(typeof scope === "string" && { scopes: scope.split(/[ ,]+/).filter(one => one !== "") }),
    ...(expires_in !== undefined && Number.isFinite(seconds) && { expiresInMs: seconds * 1_000 }),
  };
}
