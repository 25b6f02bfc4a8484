import type { importJWK, JWK } from "jose";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type Coverage, type Payload, toAcceptedPayloads } from "./payloads.ts";

/** The protected header of a signature. */
export interface SignatureHeader {
  readonly kid?: string;
  readonly alg?: string;
  readonly jku?: string;
}
export type SignatureVerdict = SignatureHeader &
  ({ readonly valid: true; readonly covers: Coverage } | { readonly valid: false; readonly reason: string });

/** Asymmetric algorithms only: no shared secret, and not `none`. */
const ALGORITHMS = [
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
];
/** Each signature costs a verification per payload; the rest is ignored. */
const SIGNATURES_MAX = 20;

/** Finds the key of a signature, or throws an Error with the reason for the verdict. */
export type FindKey = (head: SignatureHeader) => Promise<JsonObject>;

/** A card is valid if one of its signatures is. */
export async function verifyCard(card: JsonObject, findKey: FindKey): Promise<readonly SignatureVerdict[]> {
  const signatures = Array.isArray(card.signatures) ? (card.signatures as readonly Json[]) : [];
  const payloads = toAcceptedPayloads(card);
  return Promise.all(signatures.slice(0, SIGNATURES_MAX).map(one => verifyOne(one, payloads, findKey)));
}

async function verifyOne(
  signature: Json,
  payloads: readonly Payload[],
  findKey: FindKey,
): Promise<SignatureVerdict> {
  const header = readHeader(signature);
  if (!header) return { valid: false, reason: "Invalid signature: protected and signature must be strings" };
  try {
    const { alg } = header;
    if (alg === undefined) throw new Error("The signature names no algorithm");
    if (!ALGORITHMS.includes(alg)) throw new Error(`Unsupported algorithm: ${alg}`);
    const { importJWK } = await loadJose();
    const key = await importJWK((await findKey(header)) as JWK, alg);
    for (const { text, covers } of payloads)
      if (await isSignatureOf(text, signature as JsonObject, key)) return { ...header, valid: true, covers };
    throw new Error("The signature does not match: the card was changed, or signed with another key");
  } catch (error) {
    return { ...header, valid: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

function readHeader(signature: Json): SignatureHeader | null {
  if (!isObject(signature) || typeof signature.signature !== "string") return null;
  try {
    const header = JSON.parse(Buffer.from(String(signature.protected), "base64url").toString("utf8")) as Json;
    if (!isObject(header)) return null;
    const { kid, alg, jku } = header;
    return {
      ...(typeof kid === "string" && { kid }),
      ...(typeof alg === "string" && { alg }),
      ...(typeof jku === "string" && { jku }),
    };
  } catch {
    return null;
  }
}

/** With the first signature: a server that verifies none starts without it. */
const loadJose = (): Promise<typeof import("jose")> => import("jose");

type VerificationKey = Awaited<ReturnType<typeof importJWK>>;

async function isSignatureOf(text: string, signature: JsonObject, key: VerificationKey): Promise<boolean> {
  const payload = Buffer.from(text, "utf8").toString("base64url");
  const jws = signature as { readonly protected: string; readonly signature: string };
  const { flattenedVerify } = await loadJose();
  try {
    await flattenedVerify({ protected: jws.protected, payload, signature: jws.signature }, key, {
      algorithms: ALGORITHMS,
    });
    return true;
  } catch {
    return false;
  }
}
