import type { JsonObject } from "../lib/json.ts";

/** Encrypts secrets at rest. */
export interface Encryption {
  encrypt(secret: string): string;
  /** A Fault if the text was changed, or its key is gone. */
  decrypt(encrypted: string): string;
}

/** Signs with the server's key (ES256). */
export interface Signer {
  /** The id of the current key. */
  readonly kid: string;
  /** The protected header and the signature of a JWS over the payload; `header` is added to `alg` and `kid`. */
  sign(
    payload: string | Uint8Array,
    header: JsonObject,
  ): { readonly protected: string; readonly signature: string };
  /** The public halves of all valid keys. */
  jwks(): { readonly keys: readonly JsonObject[] };
}
