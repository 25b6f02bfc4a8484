import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isObject, type Json } from "../model/index.ts";
import { createRing, type KeyRing } from "./ring.ts";

/** Something that whoever starts the server can put right; the message says how. */
export class KeyRefusal extends Error {
  override readonly name = "KeyRefusal";
}

/** The ring in a file that only its owner may read; it is made if it is not there. */
export function openKeyFile(file: string, now: () => number): KeyRing {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new KeyRefusal(`The key file ${file} cannot be read (${code}).`);
    const ring = createRing(now());
    writeKeyFile(file, ring);
    return ring;
  }
  return readRing(text, file);
}

export function readRing(text: string, whence: string): KeyRing {
  const ring = parse(text);
  if (isRing(ring)) return ring;
  throw new KeyRefusal(
    `${whence} holds no keys of a Dragoman server. Put back the right one; a new one makes kept secrets unreadable.`,
  );
}

/** Whole or not at all: half a key file would lose every secret. */
export function writeKeyFile(file: string, ring: KeyRing): void {
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const isRing = (value: unknown): value is KeyRing =>
  isObject(value as Json) &&
  (value as KeyRing).version === 1 &&
  Array.isArray((value as KeyRing).sealing) &&
  Array.isArray((value as KeyRing).signing);
