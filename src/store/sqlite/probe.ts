import type { DatabaseSync } from "node:sqlite";
import type { Journal } from "../hot/journal.ts";

/** Tells whether the file can be written, and how large it is. */
export function createProbe(db: DatabaseSync): Pick<Journal, "check" | "bytes"> {
  const { user_version: schema } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  const size = db.prepare(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()",
  );
  return {
    check() {
      try {
        // The same number once more is a page to be written, and a commit like any other.
        db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${schema}; COMMIT`);
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    },
    bytes: () => size.get()?.bytes as number,
  };
}
