import type { DatabaseSync } from "node:sqlite";
import type { Encryption } from "../../../ports/index.ts";
import { openDatabase, openToRead } from "../open.ts";

/** Where secrets are: a text, or JSON with such texts in it. */
const PLACES: readonly (readonly [table: string, column: string])[] = [
  ["shelf", "value"],
  ["push", "more"],
];

/** As the vault writes them; the key that they need is told. */
const SEALED = /(?<![\w.-])v1\.([\w-]{12})\.[\w-]{38,}/g;

/** How many secrets need which key; also while a server runs. */
export function countSealed(folder: string): ReadonlyMap<string, number> {
  const opened = openToRead(folder);
  const counts = new Map<string, number>();
  try {
    for (const place of placesIn(opened.db))
      for (const { text } of textsIn(opened.db, place))
        for (const [, key = ""] of text.matchAll(SEALED)) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  } finally {
    opened.db.close();
  }
}

export interface Resealed {
  readonly resealed: number;
  /** Sealed with a key that is gone. */
  readonly unreadable: number;
}

/** Opens and seals anew every secret of a server that does not run: all of them or none. */
export function resealStore(folder: string, vault: Encryption): Resealed {
  const { db, unlock } = openDatabase({ folder, durability: "power" });
  const told = { resealed: 0, unreadable: 0 };
  const anew = (sealed: string): string => {
    try {
      const fresh = vault.encrypt(vault.decrypt(sealed));
      told.resealed += 1;
      return fresh;
    } catch {
      told.unreadable += 1;
      return sealed;
    }
  };
  try {
    db.exec("BEGIN IMMEDIATE");
    for (const place of placesIn(db)) rewrite(db, place, text => text.replace(SEALED, anew));
    db.exec("COMMIT");
    return told;
  } finally {
    db.close();
    unlock();
  }
}

/** A store that was written by an older server lacks some. */
const placesIn = (db: DatabaseSync): typeof PLACES =>
  PLACES.filter(([table]) => keysOf(db, table).length > 0);

interface Row {
  readonly text: string;
  readonly key: readonly (string | number)[];
}

function textsIn(db: DatabaseSync, [table, column]: readonly [string, string]): readonly Row[] {
  const keys = keysOf(db, table);
  return db
    .prepare(`SELECT ${column} AS text, ${keys.join(", ")} FROM ${table} WHERE ${column} LIKE '%v1.%'`)
    .all()
    .map(row => ({ text: String(row.text), key: keys.map(name => row[name] as string | number) }));
}

function rewrite(db: DatabaseSync, place: readonly [string, string], anew: (text: string) => string): void {
  const [table, column] = place;
  const where = keysOf(db, table)
    .map(name => `${name} = ?`)
    .join(" AND ");
  const update = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`);
  for (const { text, key } of textsIn(db, place)) {
    const fresh = anew(text);
    if (fresh !== text) update.run(fresh, ...key);
  }
}

const keysOf = (db: DatabaseSync, table: string): readonly string[] =>
  db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .filter(({ pk }) => Number(pk) > 0)
    .map(({ name }) => String(name));
