import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { StartupError } from "../../lib/startup-error.ts";
import {
  DAMAGED_STORE_HINT,
  findStoreEvidence,
  isEmpty,
  isTruncated,
  lostTablesMessage,
  truncatedMessage,
} from "./data-loss.ts";
import { createPrivateFile, notWritable, prepareFolder } from "./files.ts";
import { MIGRATIONS } from "./sql/index.ts";
import { mergeStaged } from "./staged-segments.ts";
import { BUSY_POLL_MS } from "./transact.ts";
import { findWalDamage, type WalState } from "./wal.ts";

/**
 * The pages that SQLite may keep. Tasks have pages of their own: if those of a commit do not fit, it reads and writes its pages
 * twice, and takes 50 ms instead of 5 (docs/decisions/0042).
 */
const CACHE_KIB = 16 * 1024;

/** "DRGM": marks the file as a Dragoman store. */
const APPLICATION_ID = 0x4452474d;

export interface SqliteParts {
  readonly folder: string;
  readonly durability: "power" | "process";
  /** Opens the rest of a damaged store, which is an error otherwise. */
  readonly acceptDataLoss?: boolean | undefined;
}

export interface OpenDatabase {
  readonly db: DatabaseSync;
  readonly file: string;
  unlock(): void;
}

/** Opens the store in a folder exclusively and migrates its schema. */
export function openDatabase(parts: SqliteParts): OpenDatabase {
  const { folder, acceptDataLoss = false } = parts;
  prepareFolder(folder);
  const unlock = lock(folder);
  const file = join(folder, "dragoman.db");
  try {
    const evidence = acceptDataLoss ? undefined : findStoreEvidence(folder);
    // Before SQLite opens the files: it removes the write-ahead log of an empty database.
    if (evidence !== undefined && isEmpty(file)) throw new StartupError(lostTablesMessage(file, evidence));
    const damage = findWalDamage(file);
    if (damage && !acceptDataLoss)
      throw new StartupError(
        `${formatWalDamage(file, damage)} ${DAMAGED_STORE_HINT}; a copy of the log is kept.`,
      );
    // SQLite reads the undamaged part of a write-ahead log and overwrites the rest.
    if (acceptDataLoss && (damage || isEmpty(file)) && existsSync(`${file}-wal`))
      copyFileSync(`${file}-wal`, `${file}-wal.damaged`);
    if (!acceptDataLoss && isTruncated(file)) throw new StartupError(truncatedMessage(file));
    createPrivateFile(file);
    const db = new DatabaseSync(file);
    try {
      migrate(db, file, evidence);
      // FULL waits for the disk at each commit; NORMAL survives a crash of the process but not a power failure.
      db.exec(`PRAGMA synchronous = ${parts.durability === "power" ? "FULL" : "NORMAL"}`);
      db.exec(`PRAGMA busy_timeout = ${BUSY_POLL_MS}; PRAGMA cache_size = -${CACHE_KIB}`);
      mergeStaged(db);
      return { db, file, unlock };
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw toStartupError(error, file);
  }
}

/** Describes damage of the write-ahead log; undefined: none. A server may be running. */
export function findStoreDamage(folder: string): string | undefined {
  const file = join(folder, "dragoman.db");
  const damage = findWalDamage(file);
  return damage && formatWalDamage(file, damage);
}

export const formatWalDamage = (file: string, { frames, readable }: WalState): string =>
  `The write-ahead log ${file}-wal is damaged: ${readable} of its ${frames} frames can be read, and the tasks in the others are lost.`;

/**
 * One writing process per file: two would block each other, and each would miss the other's writes in its cache. The lock
 * is an exclusive transaction on a file of its own: the operating system releases it when the process dies.
 */
function lock(folder: string): () => void {
  const file = join(folder, "dragoman.lock");
  const pidFile = join(folder, "dragoman.pid");
  let db: DatabaseSync;
  try {
    createPrivateFile(file);
    db = new DatabaseSync(file);
  } catch (error) {
    throw toStartupError(error, file);
  }
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw toStartupError(error, file);
    throw new StartupError(
      `The data folder ${folder} is in use by another Dragoman server${readHolder(pidFile)}. ` +
        "Stop that one, or give this one a folder of its own with --data DIR.",
    );
  }
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    db.close();
    throw notWritable(folder, error);
  }
  return () => {
    rmSync(pidFile, { force: true });
    db.close();
  };
}

function readHolder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, "utf8").trim()})`;
  } catch {
    return "";
  }
}

const SQLITE_BUSY = 5;
/** SQLITE_PERM, SQLITE_READONLY and SQLITE_CANTOPEN. */
const PERMISSION_ERRORS: readonly number[] = [3, 8, 14];
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE_ERRORS: readonly number[] = [11, 26];

/** Turns errors of SQLite and of the file system into a StartupError; other errors are returned unchanged. */
export function toStartupError(error: unknown, file: string): unknown {
  const { errcode, errstr, syscall } = error as { errcode?: number; errstr?: string; syscall?: string };
  if (syscall !== undefined) return notWritable(dirname(file), error);
  if (errcode === undefined) return error;
  if (PERMISSION_ERRORS.includes(errcode & 0xff)) return notWritable(dirname(file), { code: errstr });
  if (DAMAGE_ERRORS.includes(errcode & 0xff))
    return new StartupError(
      `The store ${file} cannot be opened: ${errstr ?? "it is damaged"}. ${DAMAGED_STORE_HINT}.`,
    );
  return new StartupError(
    `The store ${file} cannot be opened: ${errstr ?? "unknown reason"}. ` +
      "Check that the folder can be written and the disk is not full, or choose another with --data DIR.",
  );
}

/** Each migration is one transaction with the schema number that it leads to. `evidence`: see `findStoreEvidence`. */
function migrate(db: DatabaseSync, file: string, evidence: string | undefined): void {
  const version = readSchema(db, file);
  if (version === 0 && evidence !== undefined) throw new StartupError(lostTablesMessage(file, evidence));
  db.exec("PRAGMA journal_mode = WAL");
  MIGRATIONS.slice(version).forEach((sql, i) => {
    db.exec(
      `BEGIN IMMEDIATE; ${sql}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + i + 1}; COMMIT`,
    );
  });
}

/** The schema number of the file; 0: it has no tables. */
function readSchema(db: DatabaseSync, file: string): number {
  const version = pragma(db, "user_version");
  const application = pragma(db, "application_id");
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0))
    throw new StartupError(
      `${file} is a database of another program. Choose another folder with --data DIR.`,
    );
  if (version > MIGRATIONS.length)
    throw new StartupError(
      `${file} was written by a newer Dragoman (schema ${version}; this one knows up to ${MIGRATIONS.length}). ` +
        "Start a Dragoman at least as new, or choose another folder with --data DIR.",
    );
  return version;
}

export interface ReadOnlyDatabase {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly schema: number;
}

/** Opens the store in a folder for reading; a server may be running. */
export function openReadOnly(folder: string): ReadOnlyDatabase {
  const file = join(folder, "dragoman.db");
  const evidence = findStoreEvidence(folder);
  if (evidence !== undefined && isEmpty(file)) throw new StartupError(lostTablesMessage(file, evidence));
  if (!existsSync(file))
    throw new StartupError(`There is no store in ${folder}. Name the folder of the server with --data DIR.`);
  try {
    const opened = tryOpenReadOnly(file);
    if (opened.schema > 0) return opened;
    opened.db.close();
  } catch (error) {
    throw toStartupError(error, file);
  }
  if (evidence !== undefined) throw new StartupError(lostTablesMessage(file, evidence));
  throw new StartupError(`${file} is empty. Name the folder of the server with --data DIR.`);
}

/** Readers need the current schema, and only a server migrates. A damaged log may end before its last migration. */
export function requireSchema({ file, schema }: ReadOnlyDatabase): void {
  if (schema === MIGRATIONS.length) return;
  const damage = findWalDamage(file);
  if (damage) throw new StartupError(formatWalDamage(file, damage));
  throw new StartupError(
    `${file} was written by an older Dragoman (schema ${schema}; the current one is ${MIGRATIONS.length}). ` +
      "Start a server on it once to migrate it.",
  );
}

function tryOpenReadOnly(file: string): ReadOnlyDatabase {
  try {
    return withSchema(new DatabaseSync(file, { readOnly: true }), file);
  } catch (error) {
    // To read a file, SQLite writes files beside it. In a folder without write permission the file cannot change.
    if (error instanceof StartupError || existsSync(`${file}-wal`)) throw error;
    const immutable = new URL(`${pathToFileURL(file)}?immutable=1`);
    return withSchema(new DatabaseSync(immutable, { readOnly: true }), file);
  }
}

function withSchema(db: DatabaseSync, file: string): ReadOnlyDatabase {
  try {
    db.exec("PRAGMA busy_timeout = 5000");
    return { db, file, schema: readSchema(db, file) };
  } catch (error) {
    db.close();
    throw error;
  }
}

export function pragma(db: DatabaseSync, name: string): number {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] as number;
}
