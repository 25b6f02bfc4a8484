/** Authentication at a remote agent. */
import type { Fetch } from "../../ports/index.ts";
import { NO_CREDENTIALS, type OutboundCredentials } from "../calls/connection.ts";
import { isRecord } from "../shared/options.ts";

/** Members that end with Env name a variable of the server's environment; those without Env are the secret itself. */
export type RemoteAuth =
  | { readonly bearerEnv: string }
  | { readonly bearer: string }
  | { readonly apiKeyEnv: string; readonly header?: string }
  | { readonly apiKey: string; readonly header?: string }
  | { readonly oauth: OAuthClient };

/** Client credentials (RFC 6749 §4.4). */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecretEnv?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
  readonly audience?: string;
  /** How the client authenticates at the token endpoint (RFC 6749 §2.3.1); default: "basic". */
  readonly clientAuth?: "basic" | "post";
}

const API_KEY_HEADER = "x-api-key";

/** `variable`: reads a variable of the environment. Throws if a variable is not set. */
export function createCredentials(
  auth: RemoteAuth | undefined,
  variable: (name: string) => string | undefined,
): OutboundCredentials {
  if (!auth) return NO_CREDENTIALS;
  const secret = (value: string | undefined, name: string | undefined): string => {
    const found = value ?? (name === undefined ? undefined : variable(name));
    if (!found)
      throw new Error(
        `The environment variable ${name} is not set: it contains the credentials for the remote agent`,
      );
    return found;
  };
  if ("oauth" in auth) {
    const { clientSecret, clientSecretEnv } = auth.oauth;
    return createTokenCredentials({ ...auth.oauth, clientSecret: secret(clientSecret, clientSecretEnv) });
  }
  if ("apiKey" in auth || "apiKeyEnv" in auth) {
    const { header = API_KEY_HEADER } = auth;
    const key = "apiKey" in auth ? secret(auth.apiKey, undefined) : secret(undefined, auth.apiKeyEnv);
    return { headers: async () => ({ [header.toLowerCase()]: key }) };
  }
  const token = "bearer" in auth ? secret(auth.bearer, undefined) : secret(undefined, auth.bearerEnv);
  return { headers: async () => ({ authorization: `Bearer ${token}` }) };
}

/** A token is renewed this long before it expires, so that no request arrives with an expired token. */
const EARLY_MS = 30_000;
const TOKEN_MS_MAX = 24 * 60 * 60 * 1_000;

/** One token for all calls, renewed when it expires or is refused. */
function createTokenCredentials(
  client: OAuthClient & { readonly clientSecret: string },
): OutboundCredentials {
  let token: Promise<string> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const forget = (): void => {
    clearTimeout(timer);
    token = undefined;
  };
  async function renew(fetch: Fetch): Promise<string> {
    const { accessToken, expiresInMs } = await fetchToken(client, fetch);
    timer = setTimeout(forget, Math.max(0, Math.min(expiresInMs, TOKEN_MS_MAX) - EARLY_MS));
    timer.unref();
    return accessToken;
  }
  return {
    async headers(fetch, refused) {
      if (refused) forget();
      token ??= renew(fetch);
      token.catch(forget);
      return { authorization: `Bearer ${await token}` };
    },
  };
}

async function fetchToken(
  client: OAuthClient & { readonly clientSecret: string },
  fetch: Fetch,
): Promise<{ readonly accessToken: string; readonly expiresInMs: number }> {
  const { tokenUrl, clientId, clientSecret, scope, audience, clientAuth = "basic" } = client;
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) form.set("scope", scope);
  if (audience !== undefined) form.set("audience", audience);
  const headers: Record<string, string> = {
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
  };
  if (clientAuth === "post") {
    form.set("client_id", clientId);
    form.set("client_secret", clientSecret);
  } else headers.authorization = toBasic(clientId, clientSecret);
  const response = await fetch(tokenUrl, { method: "POST", headers, body: form.toString() });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok || !isRecord(body) || typeof body.access_token !== "string")
    throw new Error(`${tokenUrl} returned no access token (HTTP ${response.status}${errorIn(body)})`);
  const { expires_in: seconds } = body;
  return {
    accessToken: body.access_token,
    expiresInMs: typeof seconds === "number" ? seconds * 1_000 : TOKEN_MS_MAX,
  };
}

/** RFC 6749 §5.2: the error code; the description is left out, because it may repeat the credentials. */
const errorIn = (body: unknown): string =>
  isRecord(body) && typeof body.error === "string" ? `: ${body.error.slice(0, 100)}` : "";

/** RFC 6749 §2.3.1: id and secret are form-encoded first. */
const toBasic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString("base64")}`;
const formEncode = (text: string): string => encodeURIComponent(text).replaceAll("%20", "+");
