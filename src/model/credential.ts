import type { Json, JsonObject } from "../lib/json.ts";

/** What an agent asks its caller for. */
export interface CredentialRequest {
  /** Under this name the agent finds what it was given. */
  readonly name: string;
  /** "oauth2", "bearer", "basic", "apiKey" or a word of the agent's own. */
  readonly scheme: string;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
export const CREDENTIAL_NAME_RULE = "1 to 64 letters, digits, - _ and ., a letter or a digit first";
export const isCredentialName = (name: unknown): name is string =>
  typeof name === "string" && NAME.test(name);

/** What a caller gave: the members that came with it; of OAuth 2 an access token. */
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

/** What stands in a message instead of credentials, and in one that says that they came another way. */
export const toAuthorized = (name: string): JsonObject => ({ authorized: name });

/** Where OAuth 2 is spoken, and as whom this server is known there. */
export interface OAuthProvider {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** undefined: a public client, which PKCE alone protects. */
  readonly clientSecret?: string | undefined;
  /** Where the secret goes: into the body (default), or into a header. */
  readonly clientAuthentication?: "post" | "basic" | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** What this provider wants to be asked besides: { access_type: "offline" } */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}
/** By the names by which agents ask for them. */
export type OAuthProviders = Readonly<Record<string, OAuthProvider>>;
