import { join } from "node:path";
import { StartupError } from "../lib/startup-error.ts";
import type { Encryption, Log, Signer } from "../ports/index.ts";
import { createEncryption } from "./encryption.ts";
import { runKeysCommand } from "./key-command.ts";
import { openKeyFile, readKeyFile, versionOfFile } from "./key-file.ts";
import { parseKeyRing } from "./key-file-format.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";
import { createSigner } from "./signer.ts";

export { createEncryption } from "./encryption.ts";
export { createJwksEndpoint } from "./jwks.ts";
export { readKeyFile, writeKeyFile } from "./key-file.ts";
export { KEY_KINDS, listKeys, rotateKeys, withoutKey } from "./key-ring.ts";

/** Where the keys are: the first of these that is set. */
export interface KeySource {
  /** The key ring itself, as JSON. */
  readonly keys: string | undefined;
  /** A command that prints it. */
  readonly keysCommand: readonly string[] | undefined;
  readonly keyFile: string | undefined;
  /** The data folder, for a file in it; if it is not a folder, the keys end with the process. */
  readonly data: string;
}
export interface KeyParts extends KeySource {
  /** Why a missing key file must not be created, and what to do; undefined: it may be created. */
  readonly lost: () => string | undefined;
  readonly now: () => number;
  readonly log: Log;
}

/** The encryption and signing keys of the server. A key file is read at once, and again when it changes. */
export function loadKeys(parts: KeyParts): { readonly encryption: Encryption; readonly signer: Signer } {
  const ring = openRing(parts);
  return { encryption: createEncryption(ring), signer: createSigner(ring) };
}

/** The key file; undefined: the keys are not in a file. */
export function keyFileOf({ keys, keysCommand, keyFile, data }: KeySource): string | undefined {
  if (keys !== undefined || keysCommand !== undefined) return undefined;
  return keyFile ?? (isFolder(data) ? join(data, "keys.json") : undefined);
}

/** Whether the data is in a folder, and not in a database or in memory. */
const isFolder = (data: string): boolean => data !== ":memory:" && !data.includes("://");

function openRing(parts: KeyParts): () => KeyRing {
  const file = keyFileOf(parts);
  if (file !== undefined) return watchKeyFile(file, parts);
  const ring = readFixedRing(parts);
  return () => ring;
}

function readFixedRing({ keys, keysCommand, now }: KeyParts): KeyRing {
  if (keys !== undefined) return parseKeyRing(keys, "The option keys");
  if (keysCommand) return parseKeyRing(runKeysCommand(keysCommand), "The output of keysCommand");
  return createKeyRing(now());
}

/** A running server loads changed keys by itself, and keeps its keys while the file cannot be read. */
function watchKeyFile(file: string, { now, log, lost }: KeyParts): () => KeyRing {
  const why = readKeyFile(file) ? undefined : lost();
  if (why !== undefined) throw new StartupError(`The key file ${file} is missing, but ${why}`);
  openKeyFile(file, now);
  let stamp = versionOfFile(file);
  let ring = openKeyFile(file, now);
  return () => {
    const current = versionOfFile(file);
    if (current === stamp) return ring;
    stamp = current;
    try {
      ring = readKeyFile(file) ?? ring;
      log.info(
        { file },
        current === undefined ? "the key file is missing; the loaded keys stay in use" : "keys reloaded",
      );
    } catch (error) {
      log.error({ err: error }, "the key file cannot be read; the loaded keys stay in use");
    }
    return ring;
  };
}

/** New keys in the form of the option `keys`. */
export const createKeysText = (now: number): string => JSON.stringify(createKeyRing(now));
