import type { Json, JsonObject } from "../lib/json.ts";

/** The credentials that an agent asks its caller for. */
export interface CredentialRequest {
  /** The name under which the agent gets them. */
  readonly name: string;
  /** "oauth2", "bearer", "basic", "apiKey" or a word of the agent's own. */
  readonly scheme: string;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
export const CREDENTIAL_NAME_RULE = "1 to 64 letters, digits, - _ and ., a letter or a digit first";
export const isCredentialName = (name: unknown): name is string =>
  typeof name === "string" && NAME.test(name);

/** The members that a caller gave; for OAuth 2 an access token. */
export interface Credential {
  readonly scheme: string;
  readonly accessToken?: string;
  readonly tokenType?: string;
  readonly scopes?: readonly string[];
  /** In milliseconds. */
  readonly expiresAt?: number;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly apiKey?: string;
  readonly [member: string]: Json | undefined;
}

/** Recorded in a message instead of the credentials, also if they came by another way than the message. */
export const toAuthorized = (name: string): JsonObject => ({ authorized: name });

/** An OAuth 2 provider, and this server's client registration there. */
export interface OAuthProvider {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** undefined: a public client, protected by PKCE alone. */
  readonly clientSecret?: string | undefined;
  /** client_secret_post (default) or client_secret_basic. */
  readonly clientAuthentication?: "post" | "basic" | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Additional authorization parameters: { access_type: "offline" } */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}
/** By the names that agents use. */
export type OAuthProviders = Readonly<Record<string, OAuthProvider>>;
