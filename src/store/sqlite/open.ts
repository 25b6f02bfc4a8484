import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { cannotWrite, createPrivate, prepareFolder } from "./files.ts";
import { cutOff, isCutOff, isEmpty, lostTables, signOfStore } from "./lost-store.ts";
import { MIGRATIONS } from "./sql/index.ts";
import { StoreRefusal, WAYS_OUT } from "./store-error.ts";
import { BUSY_MS } from "./transact.ts";
import { findWalDamage, type WalState } from "./wal.ts";

export { StoreRefusal } from "./store-error.ts";

/** "DRGM": tells our files from other people's databases. */
const APPLICATION_ID = 0x4452474d;

export interface OpenParts {
  readonly folder: string;
  readonly durability: "power" | "process";
  /** Goes on with what is left of a store that is not whole; else it is refused. */
  readonly acceptDataLoss?: boolean | undefined;
}

export interface Opened {
  readonly db: DatabaseSync;
  readonly file: string;
  unlock(): void;
}

/** Opens the store in a folder, alone, with its tables up to date. */
export function openDatabase(parts: OpenParts): Opened {
  const { folder, acceptDataLoss = false } = parts;
  prepareFolder(folder);
  const unlock = lock(folder);
  const file = join(folder, "dragoman.db");
  try {
    const sign = acceptDataLoss ? undefined : signOfStore(folder);
    // Before SQLite sees them: it removes the log of an empty database.
    if (sign !== undefined && isEmpty(file)) throw new StoreRefusal(lostTables(file, sign));
    const damage = findWalDamage(file);
    if (damage && !acceptDataLoss) throw new StoreRefusal(refusalOf(file, damage));
    if (acceptDataLoss && (damage || isEmpty(file))) keepLog(file);
    if (!acceptDataLoss && isCutOff(file)) throw new StoreRefusal(cutOff(file));
    createPrivate(file);
    const db = new DatabaseSync(file);
    try {
      migrate(db, file, sign);
      // FULL waits for the disk at each commit, NORMAL survives the process but not the power.
      db.exec(`PRAGMA synchronous = ${parts.durability === "power" ? "FULL" : "NORMAL"}`);
      db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      return { db, file, unlock };
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw asRefusal(error, file);
  }
}

const refusalOf = (file: string, damage: WalState): string =>
  `${tellDamage(file, damage)} ${WAYS_OUT}: a copy of the log is kept.`;

/** SQLite takes what it can read of a write-ahead log and writes over the rest. */
function keepLog(file: string): void {
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${file}-wal.damaged`);
}

/** What is wrong with the log of a store; undefined: nothing. Also while a server writes to it. */
export function storeDamage(folder: string): string | undefined {
  const file = join(folder, "dragoman.db");
  const damage = findWalDamage(file);
  return damage && tellDamage(file, damage);
}

export const tellDamage = (file: string, { frames, readable }: WalState): string =>
  `The write-ahead log ${file}-wal is damaged: ${readable} of its ${frames} frames can be read, and the tasks in the others are lost.`;

/**
 * One writing process per file: two would wait for each other and read past each other's memory. The lock is an
 * exclusive transaction on a file of its own, so the system itself takes it away when the process dies, however it dies.
 */
function lock(folder: string): () => void {
  const pidFile = join(folder, "dragoman.pid");
  let db: DatabaseSync;
  try {
    createPrivate(join(folder, "dragoman.lock"));
    db = new DatabaseSync(join(folder, "dragoman.lock"));
  } catch (error) {
    throw asRefusal(error, join(folder, "dragoman.lock"));
  }
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode !== 5) throw asRefusal(error, join(folder, "dragoman.lock"));
    throw new StoreRefusal(
      `The data folder ${folder} is in use by another Dragoman server${holder(pidFile)}. ` +
        "Stop that one, or give this one a folder of its own with --data DIR.",
    );
  }
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    db.close();
    throw cannotWrite(folder, error);
  }
  return () => {
    rmSync(pidFile, { force: true });
    db.close();
  };
}

function holder(pidFile: string): string {
  try {
    return ` (process ${readFileSync(pidFile, "utf8").trim()})`;
  } catch {
    return "";
  }
}

export function asRefusal(error: unknown, file: string): unknown {
  const { errcode, errstr, syscall } = error as { errcode?: number; errstr?: string; syscall?: string };
  if (syscall !== undefined) return cannotWrite(dirname(file), error);
  if (errcode === undefined) return error;
  if (FORBIDDEN.includes(errcode & 0xff)) return cannotWrite(dirname(file), { code: errstr });
  if (DAMAGED.includes(errcode & 0xff))
    return new StoreRefusal(`The store ${file} cannot be opened: ${errstr ?? "it is damaged"}. ${WAYS_OUT}.`);
  return new StoreRefusal(
    `The store ${file} cannot be opened: ${errstr ?? "unknown reason"}. ` +
      "Check that the folder can be written and the disk is not full, or choose another with --data DIR.",
  );
}

/** SQLITE_PERM, SQLITE_READONLY and SQLITE_CANTOPEN. */
const FORBIDDEN: readonly number[] = [3, 8, 14];
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: readonly number[] = [11, 26];

/** Numbered migrations, each in a transaction with the number it leads to. `sign`: see `signOfStore`. */
function migrate(db: DatabaseSync, file: string, sign: string | undefined): void {
  const version = versionOf(db, file);
  if (version === 0 && sign !== undefined) throw new StoreRefusal(lostTables(file, sign));
  db.exec("PRAGMA journal_mode = WAL");
  MIGRATIONS.slice(version).forEach((sql, i) => {
    db.exec(
      `BEGIN IMMEDIATE; ${sql}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + i + 1}; COMMIT`,
    );
  });
}

/** The schema that the file has; 0: it is empty. */
function versionOf(db: DatabaseSync, file: string): number {
  const version = pragma(db, "user_version");
  const owner = pragma(db, "application_id");
  if (owner !== APPLICATION_ID && (owner !== 0 || version !== 0))
    throw new StoreRefusal(
      `${file} is a database of another program. Choose another folder with --data DIR.`,
    );
  if (version > MIGRATIONS.length)
    throw new StoreRefusal(
      `${file} was written by a newer Dragoman (schema ${version}; this one knows up to ${MIGRATIONS.length}). ` +
        "Start a Dragoman at least as new, or choose another folder with --data DIR.",
    );
  return version;
}

export interface OpenedToRead {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly schema: number;
}

/** Opens the store in a folder for reading only, also while a server writes to it. */
export function openToRead(folder: string): OpenedToRead {
  const file = join(folder, "dragoman.db");
  const sign = signOfStore(folder);
  if (sign !== undefined && isEmpty(file)) throw new StoreRefusal(lostTables(file, sign));
  if (!existsSync(file))
    throw new StoreRefusal(`There is no store in ${folder}. Name the folder of the server with --data DIR.`);
  try {
    const { db, schema } = tryToRead(file);
    if (schema > 0) return { db, file, schema };
    db.close();
  } catch (error) {
    throw asRefusal(error, file);
  }
  if (sign !== undefined) throw new StoreRefusal(lostTables(file, sign));
  throw new StoreRefusal(`${file} is empty. Name the folder of the server with --data DIR.`);
}

/** Whoever reads tables needs them as they are today; only a server brings them up to date. */
export function requireSchema({ file, schema }: OpenedToRead): void {
  if (schema < MIGRATIONS.length)
    throw new StoreRefusal(
      `${file} was written by an older Dragoman (schema ${schema}; today's is ${MIGRATIONS.length}). ` +
        "Start a server on it once: that brings it up to date.",
    );
}

function tryToRead(file: string): { readonly db: DatabaseSync; readonly schema: number } {
  try {
    return readable(new DatabaseSync(file, { readOnly: true }), file);
  } catch (error) {
    // SQLite wants to write beside the file even to read it. Where nobody may write, nobody does.
    if (error instanceof StoreRefusal || existsSync(`${file}-wal`)) throw error;
    const still = new URL(`${pathToFileURL(file)}?immutable=1`);
    return readable(new DatabaseSync(still, { readOnly: true }), file);
  }
}

function readable(db: DatabaseSync, file: string): { readonly db: DatabaseSync; readonly schema: number } {
  try {
    db.exec("PRAGMA busy_timeout = 5000");
    return { db, schema: versionOf(db, file) };
  } catch (error) {
    db.close();
    throw error;
  }
}

export function pragma(db: DatabaseSync, name: string): number {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] as number;
}
