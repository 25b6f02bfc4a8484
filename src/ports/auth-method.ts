import type { Identity, SecurityScheme } from "../model/index.ts";
import type { Caller } from "./caller.ts";
import type { Principal } from "./index.ts";

/** One way to show who one is. A guard may take several. */
export interface AuthMethod {
  /** What cards tell about it. */
  readonly schemes: readonly SecurityScheme[];
  /** How to ask for it (RFC 9110 §11.6.1), and what was wrong with what was shown. */
  challenge(problem: string | undefined): string;
  /** undefined: nothing of this kind is shown. A Fault("unauthenticated"): what is shown is not good. */
  authenticate(caller: Caller): Principal | undefined | Promise<Principal | undefined>;
}

/** A token without its secret: that is shown once and then only known by its hash. */
export interface AccessToken extends Identity {
  readonly id: string;
  /** What it is for, in the words of whoever made it. */
  readonly name: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** Not to the second: it is written down about once a minute. */
  readonly usedAt: number | undefined;
}

/** Where tokens are kept. Other processes may write in it while a server runs. */
export interface TokenStore {
  /** By the hash of its secret; null: there is none. */
  find(hash: string): AccessToken | null | Promise<AccessToken | null>;
  /** The newest first, those that are no longer good among them. */
  list(): Promise<readonly AccessToken[]>;
  create(token: NewToken): Promise<void>;
  /** By its id or by the hash of its secret; null: there is none. One that was revoked before stays as it was. */
  revoke(name: string, at: number): Promise<AccessToken | null>;
  /** Another number when anything that counts may have changed, whoever changed it. It costs next to nothing to ask. */
  revision(): number;
  recordUse(id: string, at: number): void;
  close(): Promise<void>;
}
export type NewToken = Omit<AccessToken, "revokedAt" | "usedAt"> & { readonly hash: string };
