import type { JsonObject } from "../lib/json.ts";

/** Keeps secrets unreadable where they are stored. */
export interface Encryption {
  encrypt(secret: string): string;
  /** A Fault if it was sealed with a key that is gone, or was changed. */
  decrypt(sealed: string): string;
}

/** Signs in the server's name (ES256). */
export interface Signer {
  /** The key that signs now. */
  readonly kid: string;
  /** The two outer parts of a JWS over the payload; `header` is added to `alg` and `kid`. */
  sign(
    payload: string | Uint8Array,
    header: JsonObject,
  ): { readonly protected: string; readonly signature: string };
  /** The public halves of all keys that are still good, as a JSON Web Key Set. */
  jwks(): { readonly keys: readonly JsonObject[] };
}
