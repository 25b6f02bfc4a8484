import type { DatabaseSync } from "node:sqlite";
import type { Encryption, ReEncryptResult } from "../../../ports/index.ts";
import { readMarker } from "../data-loss.ts";
import { openDatabase, openReadOnly } from "../open.ts";

/** The columns with secrets: an encrypted text, or JSON that contains encrypted texts. */
const SECRET_COLUMNS: readonly (readonly [table: string, column: string])[] = [
  ["shelf", "value"],
  ["push", "more"],
];

/** As `Encryption` writes them; the group is the id of the key. */
const ENCRYPTED = /(?<![\w.-])v1\.([\w-]{12})\.[\w-]{38,}/g;

/** The number of secrets by key id; a server may be running. */
export function countEncrypted(folder: string): ReadonlyMap<string, number> {
  const opened = openReadOnly(folder);
  const counts = new Map<string, number>();
  try {
    for (const column of columnsIn(opened.db))
      for (const { text } of readTexts(opened.db, column))
        for (const [, key = ""] of text.matchAll(ENCRYPTED)) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  } finally {
    opened.db.close();
  }
}

/** Why missing keys must not be replaced by new ones; undefined: they can be. */
export function findKeyUse(folder: string): string | undefined {
  const encrypted = [...countEncrypted(folder).values()].reduce((sum, one) => sum + one, 0);
  if (encrypted > 0) return `secrets in the store (${encrypted}) can only be decrypted with its keys`;
  return readMarker(folder)?.keyFile
    ? "the server that used this store signed agent cards with its keys"
    : undefined;
}

export const LOST_KEYS_HINT =
  "Restore the key file from its own backup: a backup of the store does not contain it. If the keys come from elsewhere, " +
  'set that option again (keys, keysCommand, keyFile); "npx dragoman doctor" lists the keys that the store needs. To continue ' +
  "with new keys, start once with --accept-data-loss: encrypted secrets are then lost, and signatures of earlier agent " +
  "cards can no longer be verified.";

/** Decrypts every secret of a stopped server and encrypts it with the newest key: all of them or none. */
export function reEncryptStore(folder: string, encryption: Encryption): ReEncryptResult {
  const { db, unlock } = openDatabase({ folder, durability: "power" });
  const counts = { reEncrypted: 0, unreadable: 0 };
  const reEncrypt = (encrypted: string): string => {
    try {
      const result = encryption.encrypt(encryption.decrypt(encrypted));
      counts.reEncrypted += 1;
      return result;
    } catch {
      counts.unreadable += 1;
      return encrypted;
    }
  };
  try {
    db.exec("BEGIN IMMEDIATE");
    for (const column of columnsIn(db)) updateTexts(db, column, text => text.replace(ENCRYPTED, reEncrypt));
    db.exec("COMMIT");
    return counts;
  } finally {
    db.close();
    unlock();
  }
}

/** A store of an older schema lacks some tables. */
const columnsIn = (db: DatabaseSync): typeof SECRET_COLUMNS =>
  SECRET_COLUMNS.filter(([table]) => primaryKeyOf(db, table).length > 0);

interface TextRow {
  readonly text: string;
  readonly key: readonly (string | number)[];
}

function readTexts(db: DatabaseSync, [table, column]: readonly [string, string]): readonly TextRow[] {
  const keys = primaryKeyOf(db, table);
  return db
    .prepare(`SELECT ${column} AS text, ${keys.join(", ")} FROM ${table} WHERE ${column} LIKE '%v1.%'`)
    .all()
    .map(row => ({ text: String(row.text), key: keys.map(name => row[name] as string | number) }));
}

function updateTexts(
  db: DatabaseSync,
  [table, column]: readonly [string, string],
  change: (text: string) => string,
): void {
  const where = primaryKeyOf(db, table)
    .map(name => `${name} = ?`)
    .join(" AND ");
  const update = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`);
  for (const { text, key } of readTexts(db, [table, column])) {
    const changed = change(text);
    if (changed !== text) update.run(changed, ...key);
  }
}

const primaryKeyOf = (db: DatabaseSync, table: string): readonly string[] =>
  db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .filter(({ pk }) => Number(pk) > 0)
    .map(({ name }) => String(name));
