import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { JsonObject } from "../lib/json.ts";

/** All keys of a server, newest first: the first one is used, the others still open and still count as ours. */
export interface KeyRing {
  readonly version: 1;
  readonly sealing: readonly SealingKey[];
  readonly signing: readonly SigningKey[];
}
export interface SealingKey {
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

const newName = (): string => randomBytes(9).toString("base64url");

export const createSealingKey = (now: number): SealingKey => ({
  id: newName(),
  key: randomBytes(32).toString("base64url"),
  createdAt: now,
});

export function createSigningKey(now: number): SigningKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid: newName(), jwk: privateKey.export({ format: "jwk" }) as JsonObject, createdAt: now };
}

export const createRing = (now: number): KeyRing => ({
  version: 1,
  sealing: [createSealingKey(now)],
  signing: [createSigningKey(now)],
});

export type KeyKind = "sealing" | "signing";
export const KEY_KINDS: readonly KeyKind[] = ["sealing", "signing"];

/** New keys of these kinds; the old ones stay behind them. */
export const rotated = (ring: KeyRing, kinds: readonly KeyKind[], now: number): KeyRing => ({
  ...ring,
  ...(kinds.includes("sealing") && { sealing: [createSealingKey(now), ...ring.sealing] }),
  ...(kinds.includes("signing") && { signing: [createSigningKey(now), ...ring.signing] }),
});

export const without = (ring: KeyRing, id: string): KeyRing => ({
  ...ring,
  sealing: ring.sealing.filter(key => key.id !== id),
  signing: ring.signing.filter(key => key.kid !== id),
});

/** What may be told of a key. */
export interface KeyView {
  readonly id: string;
  readonly kind: KeyKind;
  /** The one that is used; the others are kept for what was made with them. */
  readonly inUse: boolean;
  readonly createdAt: number;
}

export const viewOf = (ring: KeyRing): readonly KeyView[] => [
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
