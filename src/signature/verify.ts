import { flattenedVerify, importJWK, type JWK } from "jose";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type Coverage, type Payload, readingsOf } from "./payloads.ts";

/** What a signature says of itself. */
export interface SignatureHead {
  readonly kid?: string;
  readonly alg?: string;
  readonly jku?: string;
}
export type SignatureVerdict = SignatureHead &
  ({ readonly valid: true; readonly covers: Coverage } | { readonly valid: false; readonly reason: string });

/** Signatures of one key for two: nothing that needs a shared secret, and nothing that is none. */
const ALGORITHMS = [
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
];
/** A card has a few; each of them costs. */
const SIGNATURES_MAX = 20;

/** Looks for the key of a signature; an Error says in words why there is none that can be trusted. */
export type FindKey = (head: SignatureHead) => Promise<JsonObject>;

/** Checks every signature of a card; it is good if one of them is. */
export async function verifyCard(card: JsonObject, findKey: FindKey): Promise<readonly SignatureVerdict[]> {
  const signatures = Array.isArray(card.signatures) ? (card.signatures as readonly Json[]) : [];
  const readings = readingsOf(card);
  return Promise.all(signatures.slice(0, SIGNATURES_MAX).map(one => verifyOne(one, readings, findKey)));
}

async function verifyOne(
  signature: Json,
  readings: readonly Payload[],
  findKey: FindKey,
): Promise<SignatureVerdict> {
  const head = readHead(signature);
  if (!head) return { valid: false, reason: "it is no signature: protected and signature must be texts" };
  try {
    if (!head.alg || !ALGORITHMS.includes(head.alg))
      throw new Error(`the algorithm ${head.alg ?? "that is not named"} proves nothing here`);
    const key = await importJWK((await findKey(head)) as JWK, head.alg);
    for (const { text, covers } of readings)
      if (await isOver(signature as JsonObject, text, key)) return { ...head, valid: true, covers };
    throw new Error(
      "it does not belong to this card and key: the card was changed, or signed by somebody else",
    );
  } catch (error) {
    return { ...head, valid: false, reason: error instanceof Error ? error.message : "it cannot be checked" };
  }
}

function readHead(signature: Json): SignatureHead | null {
  if (!isObject(signature) || typeof signature.signature !== "string") return null;
  try {
    const head = JSON.parse(Buffer.from(String(signature.protected), "base64url").toString("utf8")) as Json;
    if (!isObject(head)) return null;
    const { kid, alg, jku } = head;
    return {
      ...(typeof kid === "string" && { kid }),
      ...(typeof alg === "string" && { alg }),
      ...(typeof jku === "string" && { jku }),
    };
  } catch {
    return null;
  }
}

type Key = Awaited<ReturnType<typeof importJWK>>;

async function isOver(signature: JsonObject, text: string, key: Key): Promise<boolean> {
  const payload = Buffer.from(text, "utf8").toString("base64url");
  const { protected: head, signature: proof } = signature as { protected: string; signature: string };
  try {
    await flattenedVerify({ protected: head, payload, signature: proof }, key, { algorithms: ALGORITHMS });
    return true;
  } catch {
    return false;
  }
}
