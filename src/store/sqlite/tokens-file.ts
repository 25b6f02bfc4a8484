import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPrivate, prepareFolder } from "./files.ts";
import { asRefusal, pragma, StoreRefusal } from "./open.ts";

/** "DRGA": tells our files from other people's databases. */
const APPLICATION_ID = 0x44524741;
const SCHEMA = 1;
/** A book is so small that whoever writes in it is done at once; the server must not stand still for longer. */
const BUSY_MS = 1_000;

const TABLES = `
  CREATE TABLE token (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT,
    principal TEXT NOT NULL,
    tenants TEXT NOT NULL,
    grants TEXT NOT NULL,
    agents TEXT,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    used INTEGER
  ) STRICT, WITHOUT ROWID`;

/** The book in a folder; it is made if it is not there. Several processes may have it open. */
export function openBook(folder: string): DatabaseSync {
  prepareFolder(folder);
  const file = join(folder, "access.db");
  try {
    createPrivate(file);
    const db = new DatabaseSync(file);
    try {
      prepareBook(db, file);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw asRefusal(error, file);
  }
}

function prepareBook(db: DatabaseSync, file: string): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
  inTransaction(db, () => {
    if (versionOf(db, file) === 0)
      db.exec(`${TABLES}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA}`);
  });
}

export function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

function versionOf(db: DatabaseSync, file: string): number {
  const [owner, version] = [pragma(db, "application_id"), pragma(db, "user_version")];
  if (owner !== APPLICATION_ID && (owner !== 0 || version !== 0))
    throw new StoreRefusal(
      `${file} is a database of another program. Choose another folder with --data DIR.`,
    );
  if (version > SCHEMA)
    throw new StoreRefusal(`${file} was written by a newer Dragoman. Start one at least as new.`);
  return version;
}
