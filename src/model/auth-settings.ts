/** Authentication settings, as the operator configures them. */
import type { Identity, Permission } from "./permission.ts";

export const AUTH_MODES = ["none", "tokens", "jwt", "api-key", "mtls", "custom"] as const;
export type AuthMode = (typeof AUTH_MODES)[number];

/** An API key of the config, by the SHA-256 of its secret in hex. */
export interface ApiKey extends Identity {
  readonly hash: string;
}

/** A client certificate, by its fingerprint, or by the common name that a trusted authority issued. */
export interface CertificateOwner extends Identity {
  /** SHA-256, in lower-case hex without colons. */
  readonly fingerprint: string | undefined;
  readonly commonName: string | undefined;
}

/** A trusted issuer of JWTs, and how its claims are read. */
export interface JwtIssuer {
  readonly issuer: string;
  /** undefined: found by OpenID Connect Discovery. */
  readonly jwksUrl: string | undefined;
  /** Tokens for other audiences are refused. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  readonly skewSeconds: number;
  readonly claims: ClaimRules;
}

/** The name of a claim, or the path to a nested one: `["realm_access", "roles"]`. */
export type ClaimName = string | readonly string[];

/** Which claims are read from a token. */
export interface ClaimRules {
  readonly principal: ClaimName;
  /** Precedes the principal, so that principals of two issuers cannot be equal. */
  readonly prefix: string;
  /** undefined: all its callers belong to `tenants`. */
  readonly tenant: ClaimName | undefined;
  readonly tenants: readonly string[];
  /** undefined: all its callers have `grants`. */
  readonly scopes: ClaimName | undefined;
  readonly grants: readonly Permission[];
  /** The issuer's names of permissions; a permission's own name always counts. */
  readonly scopeNames: Readonly<Record<string, Permission>>;
  /** The claim with the agents that its callers may know of, or `*`; undefined: all agents of their tenant. */
  readonly agents: ClaimName | undefined;
}
