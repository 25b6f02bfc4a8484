/** Detects that a server has kept a store in a folder: what is missing there now is lost, and not merely not created yet. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readWal } from "./wal.ts";

/** What the operator can do about a damaged store. */
export const DAMAGED_STORE_HINT =
  'Restore a backup (made with "npx dragoman backup"), or inspect the rest with "npx dragoman doctor". ' +
  "To continue with the rest, start once with --accept-data-loss";

/** Written when store and keys were opened for the first time. */
const MARKER_FILE = "dragoman.store";

interface StoreMarker {
  readonly version: 1;
  /** Whether the keys were in a file. */
  readonly keyFile: boolean;
}

export function readMarker(folder: string): StoreMarker | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, MARKER_FILE), "utf8")) as StoreMarker;
  } catch (error) {
    // An unreadable marker is still evidence of a store.
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : { version: 1, keyFile: true };
  }
}

/** From now on a database without tables, or a missing key file, counts as data loss. */
export function markOpened(folder: string, keyFile: boolean): void {
  if (readMarker(folder)?.keyFile === keyFile) return;
  const file = join(folder, MARKER_FILE);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify({ version: 1, keyFile } satisfies StoreMarker)}\n`, {
    mode: 0o600,
    flush: true,
  });
  renameSync(draft, file);
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}

/** A missing file counts as empty. */
export const isEmpty = (file: string): boolean => !statSync(file, { throwIfNoEntry: false })?.size;

/** The file that shows that the database of the folder had tables, if any. To be called before anything is created there. */
export function findStoreEvidence(folder: string): string | undefined {
  const file = join(folder, "dragoman.db");
  if (readMarker(folder)) return MARKER_FILE;
  if (isEmpty(file) && readWal(file).frames > 0) return "dragoman.db-wal";
  // A server creates these after the tables; in a folder without a database the operator may have put them there.
  return existsSync(file)
    ? ["keys.json", "access.db"].find(name => existsSync(join(folder, name)))
    : undefined;
}

/** The header on the first page of a database: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;

/** The file is shorter than its header says, and no write-ahead log has the rest. Only for the process that has the lock. */
export function isTruncated(file: string): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < HEADER_BYTES) return false;
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, "r");
  readSync(handle, header, 0, HEADER_BYTES, 0);
  closeSync(handle);
  // 1 stands for 65,536.
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  // The number of pages is only valid if both counters agree.
  const isPageCountValid = header.readUInt32BE(24) === header.readUInt32BE(92);
  return isPageCountValid && header.readUInt32BE(28) * pageBytes > size && readWal(file).readable === 0;
}

export const truncatedMessage = (file: string): string =>
  `The store ${file} is truncated: it is shorter than its header says. ${DAMAGED_STORE_HINT}.`;

export const lostTablesMessage = (file: string, evidence: string): string =>
  `The store ${file} is empty, but ${evidence} beside it shows that a server has kept tasks there. ` +
  `${DAMAGED_STORE_HINT}; the store then begins empty.`;
