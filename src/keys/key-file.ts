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
import { KeyRefusal, readRing } from "./key-file-format.ts";
import { createRing, type KeyRing } from "./key-ring.ts";

/** What others may do with a file, beside its owner. */
const OTHERS = 0o077;

/** The ring in a file that only its owner may read; it is made if it is not there. */
export function openKeyFile(file: string, now: () => number): KeyRing {
  const found = readKeyFile(file);
  if (found) return found;
  createKeyFile(file, createRing(now()));
  return openKeyFile(file, now);
}

/** undefined: there is no such file. */
export function readKeyFile(file: string): KeyRing | undefined {
  let text: string;
  try {
    checkMode(file);
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (error instanceof KeyRefusal) throw error;
    throw new KeyRefusal(
      `The key file ${file} cannot be read (${code}). Give it to this user: chown, chmod 600.`,
    );
  }
  return readRing(text, `The key file ${file}`);
}

/** A key that others can read is no secret; whoever made it so may know better, so it is said rather than put right. */
function checkMode(file: string): void {
  if (process.platform === "win32" || (statSync(file).mode & OTHERS) === 0) return;
  throw new KeyRefusal(
    `The key file ${file} can be read or changed by others than its owner. ` +
      `Take that from them: chmod 600 ${file}. If somebody may have read it, run dragoman keys rotate as well.`,
  );
}

/** Whole or not at all, also if the power fails: half a key file would lose every secret. */
export function writeKeyFile(file: string, ring: KeyRing): void {
  putInPlace(file, ring, renameSync);
}

/** The same where there is none yet; who comes second finds what the first one made. */
function createKeyFile(file: string, ring: KeyRing): void {
  putInPlace(file, ring, (draft, place) => {
    try {
      linkSync(draft, place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

function putInPlace(file: string, ring: KeyRing, put: (draft: string, place: string) => void): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    put(draft, file);
    syncFolder(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KeyRefusal(
      `The key file ${file} cannot be written (${code}). Give this user the right to write there, or name another with --key-file.`,
    );
  }
}

/** The name of a file is kept by its folder. */
function syncFolder(file: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Tells one version of a file from the next; undefined: it is not there. */
export function stampOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.mtimeMs} ${found.ino} ${found.size}`;
}
