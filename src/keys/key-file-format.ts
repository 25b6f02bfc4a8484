import { isObject, type Json } from "../lib/json.ts";
import { StartupError } from "../lib/startup-error.ts";
import type { KeyRing } from "./key-ring.ts";

/** `source`: the subject of the error message. The text itself is never shown. */
export function parseKeyRing(text: string, source: string): KeyRing {
  const ring = parse(text);
  if (isRing(ring)) return ring;
  throw new StartupError(
    `${source} contains no keys of a Dragoman server. Restore the right keys: with new ones, stored secrets cannot be decrypted.`,
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
  isList(value.sealing, isEncryptionKey) &&
  isList(value.signing, isSigningKey);

const isList = (value: Json | undefined, is: (one: Json) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(is);

const isEncryptionKey = (one: Json): boolean =>
  isObject(one) &&
  typeof one.id === "string" &&
  typeof one.key === "string" &&
  Buffer.from(one.key, "base64url").length === KEY_BYTES;

const isSigningKey = (one: Json): boolean =>
  isObject(one) &&
  typeof one.kid === "string" &&
  isObject(one.jwk) &&
  one.jwk.kty === "EC" &&
  one.jwk.crv === "P-256" &&
  [one.jwk.x, one.jwk.y, one.jwk.d].every(part => typeof part === "string");
