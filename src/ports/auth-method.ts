import type { Identity, SecurityScheme } from "../model/index.ts";
import type { Principal } from "./auth.ts";
import type { Caller } from "./caller.ts";

/** One way to authenticate. An authenticator may have several. */
export interface AuthMethod {
  /** The security schemes that agent cards declare. */
  readonly schemes: readonly SecurityScheme[];
  /** The challenge for `WWW-Authenticate` (RFC 9110 §11.6.1), with the reason why the credentials were rejected. */
  challenge(problem: string | undefined): string;
  /** undefined: the call has no credentials of this kind. A Fault("unauthenticated"): they are not valid. */
  authenticate(caller: Caller): Principal | undefined | Promise<Principal | undefined>;
}

/** A token without its secret, which is shown once and stored only as a hash. */
export interface AccessToken extends Identity {
  readonly id: string;
  /** The purpose, as the creator described it. */
  readonly name: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** Written about once a minute. */
  readonly usedAt: number | undefined;
}

/** Access tokens. Other processes may change them while a server runs. */
export interface TokenStore {
  /** By the hash of its secret; null: not found. */
  find(hash: string): AccessToken | null | Promise<AccessToken | null>;
  /** The newest first, with those that are expired or revoked. */
  list(): Promise<readonly AccessToken[]>;
  create(token: NewToken): Promise<void>;
  /** By its id or by the hash of its secret; null: not found. A token that is already revoked keeps its time. */
  revoke(name: string, at: number): Promise<AccessToken | null>;
  /** Changes whenever a token may have changed, also by another process. Cheap to call. */
  revision(): number;
  recordUse(id: string, at: number): void;
  close(): Promise<void>;
}
export type NewToken = Omit<AccessToken, "revokedAt" | "usedAt"> & { readonly hash: string };
