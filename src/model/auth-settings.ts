/** By what callers can show who they are, as whoever runs a server writes it down. */
import type { Identity, Permission } from "./permission.ts";

export const AUTH_MODES = ["none", "tokens", "jwt", "api-key", "mtls"] as const;
export type AuthMode = (typeof AUTH_MODES)[number];

/** A key that stands in the config: only its SHA-256 is known here, in hex. */
export interface ApiKey extends Identity {
  readonly hash: string;
}

/** Whose certificate it is: by its fingerprint, or by the name that it has from an authority that is trusted. */
export interface CertificateOwner extends Identity {
  /** SHA-256, in lower-case hex without colons. */
  readonly fingerprint: string | undefined;
  readonly commonName: string | undefined;
}

/** Who may give out signed tokens, and how they are read. */
export interface JwtIssuer {
  readonly issuer: string;
  /** undefined: the issuer is asked where its keys are (OpenID Connect Discovery). */
  readonly jwksUrl: string | undefined;
  /** Tokens for others are not taken. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  readonly skewSeconds: number;
  readonly claims: ClaimRules;
}

/** The name of a claim, or the way to one inside others: `["realm_access", "roles"]`. */
export type ClaimName = string | readonly string[];

/** What is read out of a token. */
export interface ClaimRules {
  readonly principal: ClaimName;
  /** Stands before the principal, so that two issuers cannot mean the same one. */
  readonly prefix: string;
  /** undefined: all its callers are of these tenants. */
  readonly tenant: ClaimName | undefined;
  readonly tenants: readonly string[];
  /** undefined: all its callers have these grants. */
  readonly scopes: ClaimName | undefined;
  readonly grants: readonly Permission[];
  /** The issuer's words for grants; a grant's own name always counts. */
  readonly words: Readonly<Record<string, Permission>>;
  /** The agents that its callers may know of, or `*`; undefined: all that their tenant has. */
  readonly agents: ClaimName | undefined;
}
