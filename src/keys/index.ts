import { join } from "node:path";
import type { Encryption, Log, Signer } from "../ports/index.ts";
import { createVault } from "./encryption.ts";
import { runKeysCommand } from "./key-command.ts";
import { openKeyFile, readKeyFile, stampOf } from "./key-file.ts";
import { KeyRefusal, readRing } from "./key-file-format.ts";
import { createRing, type KeyRing } from "./key-ring.ts";
import { createSigner } from "./signer.ts";

export { createVault } from "./encryption.ts";
export { createKeySet } from "./jwks.ts";
export { readKeyFile, writeKeyFile } from "./key-file.ts";
export { KeyRefusal } from "./key-file-format.ts";
export { KEY_KINDS, rotated, viewOf, without } from "./key-ring.ts";

/** Where the keys are: the first of these that is said. */
export interface KeyPlace {
  /** The ring itself. */
  readonly keys: string | undefined;
  /** A program that prints it. */
  readonly keysCommand: readonly string[] | undefined;
  readonly keyFile: string | undefined;
  /** The data folder, for a file in it; if it is none, the keys go with the process. */
  readonly data: string;
}
export interface KeyParts extends KeyPlace {
  /** Why a key file that is missing must not be made anew, and what to do; undefined: it may be made. */
  readonly lost: () => string | undefined;
  readonly now: () => number;
  readonly log: Log;
}

/** What the server seals and signs with. A key file is looked for at once, and again whenever it has changed. */
export function createKeys(parts: KeyParts): { readonly vault: Encryption; readonly signer: Signer } {
  const ring = openRing(parts);
  return { vault: createVault(ring), signer: createSigner(ring) };
}

/** The file that holds the keys; undefined: they are elsewhere. */
export function keyFileOf({ keys, keysCommand, keyFile, data }: KeyPlace): string | undefined {
  if (keys !== undefined || keysCommand !== undefined) return undefined;
  return keyFile ?? (isFolder(data) ? join(data, "keys.json") : undefined);
}

/** Whether what is kept is in a folder; else it is in a database, or nowhere. */
export const isFolder = (data: string): boolean => data !== ":memory:" && !data.includes("://");

function openRing(parts: KeyParts): () => KeyRing {
  const file = keyFileOf(parts);
  if (file !== undefined) return watched(file, parts);
  const ring = fixedRing(parts);
  return () => ring;
}

function fixedRing({ keys, keysCommand, now }: KeyParts): KeyRing {
  if (keys !== undefined) return readRing(keys, "The option keys");
  if (keysCommand) return readRing(runKeysCommand(keysCommand), "What the keysCommand prints");
  return createRing(now());
}

/** A server that runs takes up new keys by itself, and keeps those that it has while the file cannot be read. */
function watched(file: string, { now, log, lost }: KeyParts): () => KeyRing {
  const why = readKeyFile(file) ? undefined : lost();
  if (why !== undefined) throw new KeyRefusal(`There is no key file ${file}, but ${why}`);
  openKeyFile(file, now);
  let stamp = stampOf(file);
  let ring = openKeyFile(file, now);
  return () => {
    const current = stampOf(file);
    if (current === stamp) return ring;
    stamp = current;
    try {
      ring = readKeyFile(file) ?? ring;
      log.info(
        { file },
        current === undefined ? "the key file is gone; the keys are kept" : "keys were read anew",
      );
    } catch (error) {
      log.error({ err: error }, "the key file cannot be read; the keys that were read before are kept");
    }
    return ring;
  };
}

/** A ring of new keys, as the option `keys` takes it. */
export const newRing = (now: number): string => JSON.stringify(createRing(now));
