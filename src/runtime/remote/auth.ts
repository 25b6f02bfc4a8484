/** Who we are for an agent somewhere else. */
import type { Fetch } from "../../ports/index.ts";
import { isRecord } from "../shared/options.ts";

/** What ends with Env is the name of a variable of the server's environment; the same without it is the secret itself. */
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
  /** How it says who it is to the one who gives tokens; default: "basic". */
  readonly clientAuth?: "basic" | "post";
}

const API_KEY_HEADER = "x-api-key";

/** Headers that say who calls. */
export interface Credentials {
  headers(fetch: Fetch, refused: boolean): Promise<Readonly<Record<string, string>>>;
}

/** Who says nothing about himself, or says it in headers of his own. */
export const NOBODY: Credentials = { headers: async () => ({}) };

/** `variable`: a variable of the environment; throws what is missing. */
export function createCredentials(
  auth: RemoteAuth | undefined,
  variable: (name: string) => string | undefined,
): Credentials {
  if (!auth) return NOBODY;
  const secret = (value: string | undefined, name: string | undefined): string => {
    const found = value ?? (name === undefined ? undefined : variable(name));
    if (!found) throw new Error(`The variable ${name} is not set: it holds a secret for another agent`);
    return found;
  };
  if ("oauth" in auth) {
    const { clientSecret, clientSecretEnv } = auth.oauth;
    return createTokens({ ...auth.oauth, clientSecret: secret(clientSecret, clientSecretEnv) });
  }
  if ("apiKey" in auth || "apiKeyEnv" in auth) {
    const { header = API_KEY_HEADER } = auth;
    const key = "apiKey" in auth ? secret(auth.apiKey, undefined) : secret(undefined, auth.apiKeyEnv);
    return { headers: async () => ({ [header.toLowerCase()]: key }) };
  }
  const token = "bearer" in auth ? secret(auth.bearer, undefined) : secret(undefined, auth.bearerEnv);
  return { headers: async () => ({ authorization: `Bearer ${token}` }) };
}

/** Before a token ends a new one is got, so that a call does not arrive with a dead one. */
const EARLY_MS = 30_000;
const TOKEN_MS_MAX = 24 * 60 * 60 * 1_000;

/** One token for all calls; a new one when it ends, or when it is refused. */
function createTokens(client: OAuthClient & { readonly clientSecret: string }): Credentials {
  let token: Promise<string> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const forget = (): void => {
    clearTimeout(timer);
    token = undefined;
  };
  async function get(fetch: Fetch): Promise<string> {
    const { accessToken, lastsMs } = await fetchToken(client, fetch);
    timer = setTimeout(forget, Math.max(0, Math.min(lastsMs, TOKEN_MS_MAX) - EARLY_MS));
    timer.unref();
    return accessToken;
  }
  return {
    async headers(fetch, refused) {
      if (refused) forget();
      token ??= get(fetch);
      token.catch(forget);
      return { authorization: `Bearer ${await token}` };
    },
  };
}

async function fetchToken(
  client: OAuthClient & { readonly clientSecret: string },
  fetch: Fetch,
): Promise<{ readonly accessToken: string; readonly lastsMs: number }> {
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
  const said: unknown = await response.json().catch(() => undefined);
  if (!response.ok || !isRecord(said) || typeof said.access_token !== "string")
    throw new Error(`${tokenUrl} gave no token (HTTP ${response.status}${reasonIn(said)})`);
  const { expires_in: seconds } = said;
  return {
    accessToken: said.access_token,
    lastsMs: typeof seconds === "number" ? seconds * 1_000 : TOKEN_MS_MAX,
  };
}

/** RFC 6749 §5.2: a word for what is wrong; the sentence beside it may repeat what was sent. */
const reasonIn = (said: unknown): string =>
  isRecord(said) && typeof said.error === "string" ? `: ${said.error.slice(0, 100)}` : "";

/** RFC 6749 §2.3.1: both halves are encoded as in a form first. */
const toBasic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString("base64")}`;
const encoded = (text: string): string => encodeURIComponent(text).replaceAll("%20", "+");
