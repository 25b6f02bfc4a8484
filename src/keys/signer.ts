import { createPrivateKey, sign } from "node:crypto";
import type { JsonObject } from "../lib/json.ts";
import type { Signer } from "../ports/index.ts";
import type { KeyRing, SigningKey } from "./key-ring.ts";

/** Signs with the newest key (ES256); publishes the public keys of all. */
export function createSigner(ring: () => KeyRing): Signer {
  let loaded: { readonly kid: string; readonly key: ReturnType<typeof createPrivateKey> } | undefined;
  const newest = (): SigningKey => {
    const [key] = ring().signing;
    if (!key) throw new Error("there is no signing key");
    return key;
  };
  const privateKey = (): ReturnType<typeof createPrivateKey> => {
    const { kid, jwk } = newest();
    if (loaded?.kid !== kid) loaded = { kid, key: createPrivateKey({ key: jwk as never, format: "jwk" }) };
    return loaded.key;
  };
  return {
    get kid() {
      return newest().kid;
    },
    sign(payload, header) {
      const head = encode(JSON.stringify({ alg: "ES256", kid: newest().kid, ...header }));
      const signed = Buffer.from(`${head}.${encode(payload)}`, "ascii");
      // RFC 7518 §3.4: R and S concatenated, not ASN.1.
      const signature = sign("sha256", signed, { key: privateKey(), dsaEncoding: "ieee-p1363" });
      return { protected: head, signature: signature.toString("base64url") };
    },
    jwks: () => ({ keys: ring().signing.map(toPublic) }),
  };
}

const encode = (text: string | Uint8Array): string => Buffer.from(text as string).toString("base64url");

function toPublic({ kid, jwk }: SigningKey): JsonObject {
  const { kty = "EC", crv = "P-256", x = "", y = "" } = jwk;
  return { kty, crv, x, y, kid, use: "sig", alg: "ES256" };
}
