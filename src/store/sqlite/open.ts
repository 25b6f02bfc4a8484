import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "./sql/index.ts";

/** Something the person who starts the server can put right; the message says how. */
export class StoreRefusal extends Error {
  override readonly name = "StoreRefusal";
}

/** "DRGM": tells our files from other people's databases. */
const APPLICATION_ID = 0x4452474d;

export interface OpenParts {
  readonly folder: string;
  readonly durability: "power" | "process";
}

export interface Opened {
  readonly db: DatabaseSync;
  readonly file: string;
  unlock(): void;
}

/** Opens the store in a folder, alone, with its tables up to date. */
export function openDatabase(parts: OpenParts): Opened {
  makeFolder(parts.folder);
  const unlock = lock(parts.folder);
  const file = join(parts.folder, "dragoman.db");
  try {
    const db = new DatabaseSync(file);
    try {
      migrate(db, file);
      // FULL waits for the disk at each commit, NORMAL survives the process but not the power.
      db.exec(`PRAGMA synchronous = ${parts.durability === "power" ? "FULL" : "NORMAL"}`);
      db.exec("PRAGMA busy_timeout = 5000");
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

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new StoreRefusal(
      `The data folder ${folder} cannot be made (${reason}). Choose another with --data, or --data :memory: to keep nothing.`,
    );
  }
}

/**
 * One writing process per file: two would wait for each other and read past each other's memory. The lock is an
 * exclusive transaction on a file of its own, so the system itself takes it away when the process dies, however it dies.
 */
function lock(folder: string): () => void {
  const pidFile = join(folder, "dragoman.pid");
  let db: DatabaseSync;
  try {
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
  writeFileSync(pidFile, `${process.pid}\n`);
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

function asRefusal(error: unknown, file: string): unknown {
  const { errcode, errstr } = error as { errcode?: number; errstr?: string };
  if (errcode === undefined) return error;
  return new StoreRefusal(
    `The store ${file} cannot be opened: ${errstr ?? "unknown reason"}. ` +
      "Check that the folder can be written and the disk is not full, or choose another with --data DIR.",
  );
}

/** Numbered migrations, each in a transaction with the number it leads to. */
function migrate(db: DatabaseSync, file: string): void {
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
  db.exec("PRAGMA journal_mode = WAL");
  MIGRATIONS.slice(version).forEach((sql, i) => {
    db.exec(
      `BEGIN IMMEDIATE; ${sql}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + i + 1}; COMMIT`,
    );
  });
}

function pragma(db: DatabaseSync, name: string): number {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] as number;
}
