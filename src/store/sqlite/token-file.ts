import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartupError } from "../../lib/startup-error.ts";
import { createPrivateFile, prepareFolder } from "./files.ts";
import { pragma, toStartupError } from "./open.ts";

/** "DRGA": marks the file as a token file of Dragoman. */
const APPLICATION_ID = 0x44524741;
const SCHEMA = 1;
/** The file is so small that every writer is done at once; the server must not block for longer. */
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

/** The token file of a folder, created if it is missing. Several processes can have it open. */
export function openTokenFile(folder: string): DatabaseSync {
  prepareFolder(folder);
  const file = join(folder, "access.db");
  try {
    createPrivateFile(file);
    const db = new DatabaseSync(file);
    try {
      db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
      inTransaction(db, () => {
        if (readSchema(db, file) === 0)
          db.exec(`${TABLES}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA}`);
      });
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw toStartupError(error, file);
  }
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

function readSchema(db: DatabaseSync, file: string): number {
  const [application, version] = [pragma(db, "application_id"), pragma(db, "user_version")];
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0))
    throw new StartupError(
      `${file} is a database of another program. Choose another folder with --data DIR.`,
    );
  if (version > SCHEMA)
    throw new StartupError(`${file} was written by a newer Dragoman. Start one at least as new.`);
  return version;
}
