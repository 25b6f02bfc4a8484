import type { DatabaseSync } from "node:sqlite";
import type { Journal } from "../single-node/backend.ts";
import type { Transact } from "./transact.ts";

/** Tells whether the file can be written, and how large it is. */
export function createProbe(db: DatabaseSync, transact: Transact): Pick<Journal, "check" | "bytes"> {
  const { user_version: schema } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  const size = db.prepare(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()",
  );
  return {
    check() {
      // The same number once more is a page to be written, and a commit like any other.
      transact(() => db.exec(`PRAGMA user_version = ${schema}`));
    },
    bytes: () => size.get()?.bytes as number,
  };
}
