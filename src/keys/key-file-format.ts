import { isObject, type Json } from "../lib/json.ts";
import type { KeyRing } from "./key-ring.ts";

/** Something that whoever starts the server can put right; the message says how. */
export class KeyRefusal extends Error {
  override readonly name = "KeyRefusal";
}

/** `whence`: where the text is from, as the subject of a sentence. The text itself is never shown. */
export function readRing(text: string, whence: string): KeyRing {
  const ring = parse(text);
  if (isRing(ring)) return ring;
  throw new KeyRefusal(
    `${whence} holds no keys of a Dragoman server. Put back the right ones; new ones make kept secrets unreadable.`,
  );
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const KEY_BYTES = 32;

const isRing = (value: Json | undefined): value is Json & KeyRing =>
  isObject(value) &&
  value.version === 1 &&
  isList(value.sealing, isSealing) &&
  isList(value.signing, isSigning);

const isList = (value: Json | undefined, is: (one: Json) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(is);

const isSealing = (one: Json): boolean =>
  isObject(one) &&
  typeof one.id === "string" &&
  typeof one.key === "string" &&
  Buffer.from(one.key, "base64url").length === KEY_BYTES;

const isSigning = (one: Json): boolean =>
  isObject(one) &&
  typeof one.kid === "string" &&
  isObject(one.jwk) &&
  one.jwk.kty === "EC" &&
  one.jwk.crv === "P-256" &&
  [one.jwk.x, one.jwk.y, one.jwk.d].every(part => typeof part === "string");
