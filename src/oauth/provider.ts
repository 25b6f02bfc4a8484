import { createHash } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { OAuthProvider } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";

/** The response of a token endpoint (RFC 6749 §5.1). */
export interface ProviderTokens {
  readonly accessToken: string;
  readonly tokenType: string;
  readonly refreshToken?: string;
  readonly scopes?: readonly string[];
  readonly expiresInMs?: number;
}

/** The provider rejected the code or refresh token (RFC 6749 §5.2). */
export class ProviderRejection extends Error {
  override readonly name = "ProviderRejection";
}

export interface ProviderParts {
  readonly fetch: Fetch;
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
  parts: ProviderParts,
  provider: OAuthProvider,
  asked: { readonly code: string; readonly redirectUri: string; readonly verifier: string },
): Promise<ProviderTokens> =>
  requestTokens(parts, provider, {
    grant_type: "authorization_code",
    code: asked.code,
    redirect_uri: asked.redirectUri,
    code_verifier: asked.verifier,
  });

/** RFC 6749 §6. */
export const refreshTokens = (
  parts: ProviderParts,
  provider: OAuthProvider,
  refreshToken: string,
): Promise<ProviderTokens> =>
  requestTokens(parts, provider, { grant_type: "refresh_token", refresh_token: refreshToken });

async function requestTokens(
  parts: ProviderParts,
  provider: OAuthProvider,
  form: Readonly<Record<string, string>>,
): Promise<ProviderTokens> {
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
  // Some providers reject with status 200, against RFC 6749 §5.2.
  if (typeof answer.error === "string")
    throw new ProviderRejection(`the provider rejected the request: ${word(answer.error)}`);
  if (!response.ok) throw new Error(`the provider answered with HTTP ${response.status}`);
  return toTokens(answer);
}

const toBasic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;

/** An error code of RFC 6749 §5.2; other text might contain secrets. */
const word = (error: string): string => (/^[a-z_]{1,40}$/.test(error) ? error : "unknown error");

async function readText(response: Response, bytesMax: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new Error(`the provider answered with more than ${bytesMax} bytes`);
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

function toTokens(answer: JsonObject): ProviderTokens {
  const { access_token, token_type, refresh_token, scope, expires_in } = answer;
  if (typeof access_token !== "string" || access_token === "")
    throw new Error("the provider answered without an access token");
  const seconds = Number(expires_in);
  return {
    accessToken: access_token,
    tokenType: typeof token_type === "string" ? token_type : "Bearer",
    ...(typeof refresh_token === "string" && { refreshToken: refresh_token }),
    ...(typeof scope === "string" && { scopes: scope.split(/[ ,]+/).filter(one => one !== "") }),
    ...(expires_in !== undefined && Number.isFinite(seconds) && { expiresInMs: seconds * 1_000 }),
  };
}
