/** Signs that a server has kept a store in a folder: what is missing there now is lost, and not merely not made yet. */
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
import { WAYS_OUT } from "./store-error.ts";
import { readWal } from "./wal.ts";

/** Written when store and keys were opened for the first time. */
const MARK = "dragoman.store";

interface Mark {
  readonly version: 1;
  /** Whether the keys were in a file. */
  readonly keyFile: boolean;
}

export function readMark(folder: string): Mark | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, MARK), "utf8")) as Mark;
  } catch (error) {
    // Whatever it says: it was there.
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : { version: 1, keyFile: true };
  }
}

/** From now on a database without tables, or a missing key file, is a loss. */
export function markOpened(folder: string, keyFile: boolean): void {
  if (readMark(folder)?.keyFile === keyFile) return;
  const place = join(folder, MARK);
  const draft = `${place}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify({ version: 1, keyFile } satisfies Mark)}\n`, {
    mode: 0o600,
    flush: true,
  });
  renameSync(draft, place);
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}

/** Also if it is not there. */
export const isEmpty = (file: string): boolean => !statSync(file, { throwIfNoEntry: false })?.size;

/** What shows that the database of the folder had tables; undefined: nothing. Asked before anything is made there. */
export function signOfStore(folder: string): string | undefined {
  const file = join(folder, "dragoman.db");
  if (readMark(folder)) return MARK;
  if (isEmpty(file) && readWal(file).frames > 0) return "dragoman.db-wal";
  // A server makes them after the tables; in a folder without a database they may have been put there on purpose.
  return existsSync(file)
    ? ["keys.json", "access.db"].find(name => existsSync(join(folder, name)))
    : undefined;
}

/** The first page of a database: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEAD_BYTES = 100;

/** The file is shorter than its own header says, and no log has the rest. Only for the one process that has the lock. */
export function isCutOff(file: string): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < HEAD_BYTES) return false;
  const head = Buffer.alloc(HEAD_BYTES);
  const handle = openSync(file, "r");
  readSync(handle, head, 0, HEAD_BYTES, 0);
  closeSync(handle);
  // 1 stands for 65,536.
  const pageBytes = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
  // The number of pages is only kept up to date if both counters agree.
  const isKnown = head.readUInt32BE(24) === head.readUInt32BE(92);
  return isKnown && head.readUInt32BE(28) * pageBytes > size && readWal(file).readable === 0;
}

export const cutOff = (file: string): string =>
  `The store ${file} is cut off: it is shorter than it says itself. ${WAYS_OUT}.`;

export const lostTables = (file: string, sign: string): string =>
  `The store ${file} is empty, but ${sign} beside it shows that a server has kept tasks there. ${WAYS_OUT}: then it begins empty.`;
