import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { JsonObject } from "../lib/json.ts";

/** All keys of a server, newest first: the first is used, the others still decrypt and verify. */
export interface KeyRing {
  readonly version: 1;
  readonly sealing: readonly EncryptionKey[];
  readonly signing: readonly SigningKey[];
}
export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes, base64url. */
  readonly key: string;
  readonly createdAt: number;
}
export interface SigningKey {
  readonly kid: string;
  /** A private key on the curve P-256, as a JSON Web Key. */
  readonly jwk: JsonObject;
  readonly createdAt: number;
}

const newKeyId = (): string => randomBytes(9).toString("base64url");

export const createEncryptionKey = (now: number): EncryptionKey => ({
  id: newKeyId(),
  key: randomBytes(32).toString("base64url"),
  createdAt: now,
});

export function createSigningKey(now: number): SigningKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid: newKeyId(), jwk: privateKey.export({ format: "jwk" }) as JsonObject, createdAt: now };
}

export const createKeyRing = (now: number): KeyRing => ({
  version: 1,
  sealing: [createEncryptionKey(now)],
  signing: [createSigningKey(now)],
});

export type KeyKind = "sealing" | "signing";
export const KEY_KINDS: readonly KeyKind[] = ["sealing", "signing"];

/** Adds new keys of these kinds in front of the old ones. */
export const rotateKeys = (ring: KeyRing, kinds: readonly KeyKind[], now: number): KeyRing => ({
  ...ring,
  ...(kinds.includes("sealing") && { sealing: [createEncryptionKey(now), ...ring.sealing] }),
  ...(kinds.includes("signing") && { signing: [createSigningKey(now), ...ring.signing] }),
});

export const withoutKey = (ring: KeyRing, id: string): KeyRing => ({
  ...ring,
  sealing: ring.sealing.filter(key => key.id !== id),
  signing: ring.signing.filter(key => key.kid !== id),
});

/** A key without its secret. */
export interface KeyView {
  readonly id: string;
  readonly kind: KeyKind;
  /** The newest of its kind. */
  readonly inUse: boolean;
  readonly createdAt: number;
}

export const listKeys = (ring: KeyRing): readonly KeyView[] => [
  ...ring.sealing.map(({ id, createdAt }, i) => ({
    id,
    kind: "sealing" as const,
    inUse: i === 0,
    createdAt,
  })),
  ...ring.signing.map(({ kid, createdAt }, i) => ({
    id: kid,
    kind: "signing" as const,
    inUse: i === 0,
    createdAt,
  })),
];
