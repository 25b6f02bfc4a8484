import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { StartupError } from "../lib/startup-error.ts";
import { parseKeyRing } from "./key-file-format.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";

/** Permission bits of group and others. */
const OTHERS = 0o077;

/** The keys in a file that only its owner may read; created if it does not exist. */
export function openKeyFile(file: string, now: () => number): KeyRing {
  const found = readKeyFile(file);
  if (found) return found;
  createKeyFile(file, createKeyRing(now()));
  return openKeyFile(file, now);
}

/** undefined: the file does not exist. */
export function readKeyFile(file: string): KeyRing | undefined {
  let text: string;
  try {
    checkMode(file);
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (error instanceof StartupError) throw error;
    throw new StartupError(
      `The key file ${file} cannot be read (${code}). Make this user its owner: chown, chmod 600.`,
    );
  }
  return parseKeyRing(text, `The key file ${file}`);
}

/** The mode may be intended, so the server refuses to start instead of changing it. */
function checkMode(file: string): void {
  if (process.platform === "win32" || (statSync(file).mode & OTHERS) === 0) return;
  throw new StartupError(
    `The key file ${file} is accessible to other users. ` +
      `Run chmod 600 ${file}, and npx dragoman keys rotate if it may have been read.`,
  );
}

/** Atomic, also in a power failure: half a key file would lose every secret. */
export function writeKeyFile(file: string, ring: KeyRing): void {
  writeAtomically(file, ring, renameSync);
}

/** Atomic creation: of two processes, the second finds the file of the first. */
function createKeyFile(file: string, ring: KeyRing): void {
  writeAtomically(file, ring, (draft, target) => {
    try {
      linkSync(draft, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

function writeAtomically(file: string, ring: KeyRing, put: (draft: string, target: string) => void): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    put(draft, file);
    syncFolder(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `The key file ${file} cannot be written (${code}). Make its folder writable for this user, or choose another file with --key-file.`,
    );
  }
}

/** A new name is durable once its folder is synced. */
function syncFolder(file: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Changes whenever the file does; undefined: it does not exist. */
export function versionOfFile(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.mtimeMs} ${found.ino} ${found.size}`;
}
