import { createPrivateKey, sign } from "node:crypto";
import type { JsonObject } from "../lib/json.ts";
import type { Signer } from "../ports/index.ts";
import type { KeyRing, SigningKey } from "./key-ring.ts";

/** ES256 with the newest key; the public halves of all keys of the ring are shown. */
export function createSigner(ring: () => KeyRing): Signer {
  let made: { readonly kid: string; readonly key: ReturnType<typeof createPrivateKey> } | undefined;
  const newest = (): SigningKey => {
    const [key] = ring().signing;
    if (!key) throw new Error("there is no key to sign with");
    return key;
  };
  const privateKey = (): ReturnType<typeof createPrivateKey> => {
    const { kid, jwk } = newest();
    if (made?.kid !== kid) made = { kid, key: createPrivateKey({ key: jwk as never, format: "jwk" }) };
    return made.key;
  };
  return {
    get kid() {
      return newest().kid;
    },
    sign(payload, header) {
      const head = encode(JSON.stringify({ alg: "ES256", kid: newest().kid, ...header }));
      const signed = Buffer.from(`${head}.${encode(payload)}`, "ascii");
      // RFC 7518 §3.4: the two numbers side by side, not in ASN.1.
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
