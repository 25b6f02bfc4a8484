import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { Fault } from "../model/index.ts";
import type { Encryption } from "../ports/index.ts";
import type { KeyRing } from "./key-ring.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM. The ciphertext names its key: `v1.KEY.NONCE+TEXT+TAG`. */
export function createEncryption(ring: () => KeyRing): Encryption {
  const keyOf = (id: string): Buffer | undefined => {
    const found = ring().sealing.find(one => one.id === id);
    return found && Buffer.from(found.key, "base64url");
  };
  return {
    encrypt(secret) {
      const [newest] = ring().sealing;
      if (!newest) throw new Error("there is no encryption key");
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keyOf(newest.id) as Buffer, nonce);
      const bytes = Buffer.concat([
        nonce,
        cipher.update(secret, "utf8"),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `v1.${newest.id}.${bytes.toString("base64url")}`;
    },
    decrypt(encrypted) {
      const [, id = "", text = ""] = /^v1\.([\w-]+)\.([\w-]+)$/.exec(encrypted) ?? [];
      const key = keyOf(id);
      const bytes = Buffer.from(text, "base64url");
      if (!key || bytes.length < NONCE_BYTES + TAG_BYTES) throw unreadable();
      const plain = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      plain.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const inner = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
        return Buffer.concat([plain.update(inner), plain.final()]).toString("utf8");
      } catch (cause) {
        throw unreadable(cause);
      }
    },
  };
}

const unreadable = (cause?: unknown): Fault =>
  new Fault("unavailable", "A stored secret cannot be decrypted; send it again", {}, cause);
