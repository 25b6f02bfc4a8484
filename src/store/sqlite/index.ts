import type { Store } from "../../ports.ts";
import { createHotStore, type HotParts } from "../hot/store.ts";
import { startCheckpoints } from "./checkpoint.ts";
import { createSqliteJournal } from "./journal.ts";
import { type OpenParts, openDatabase } from "./open.ts";

export { StoreRefusal } from "./open.ts";

/** The embedded store: one folder, one process, survives a kill at any moment. */
export function createSqliteStore(parts: OpenParts & Omit<HotParts, "journal">): Store {
  const { db, file, unlock } = openDatabase(parts);
  db.exec("PRAGMA wal_autocheckpoint = 0");
  const checkpoints = startCheckpoints(file);
  const store = createHotStore({ ...parts, journal: createSqliteJournal(db, unlock) });
  return {
    ...store,
    async close() {
      await checkpoints.stop();
      await store.close();
    },
  };
}
