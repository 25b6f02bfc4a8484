import type { Store } from "../../ports/index.ts";
import { createHotStore, type HotParts } from "../single-node/store.ts";
import { createSqliteJournal } from "./backend.ts";
import { startKeeper } from "./maintenance-thread.ts";
import { asRefusal, type OpenParts, openDatabase } from "./open.ts";

export type { TaskStory } from "../kernel/history.ts";
export { KEY_WAYS_OUT, whyKeysAreNeeded } from "./lost-keys.ts";
export { markOpened } from "./lost-store.ts";
export { copyStore } from "./maintenance/backup.ts";
export { examineStore, type Report } from "./maintenance/check.ts";
export { openToLeave } from "./maintenance/export.ts";
export { readStory } from "./maintenance/history.ts";
export { type Purged, purgeStore } from "./maintenance/purge.ts";
export { countSealed, type Resealed, resealStore } from "./maintenance/re-encrypt.ts";
export { StoreRefusal, storeDamage } from "./open.ts";
export { createSqliteTokenBook } from "./tokens.ts";
export { usageOf } from "./usage.ts";

/** The embedded store: one folder, one process, survives a kill at any moment. */
export function createSqliteStore(parts: OpenParts & Omit<HotParts, "journal">): Store {
  const { db, file, unlock } = openDatabase(parts);
  db.exec("PRAGMA wal_autocheckpoint = 0");
  const keeper = startKeeper(file);
  const store = openStore();

  /** A damaged file may refuse any question. */
  function openStore(): Store {
    try {
      const journal = createSqliteJournal({ db, find: keeper.find, ticks: parts.ticks, onClose: unlock });
      return createHotStore({ ...parts, journal });
    } catch (error) {
      void keeper.stop();
      db.close();
      unlock();
      throw asRefusal(error, file);
    }
  }
  return {
    ...store,
    async close() {
      await keeper.stop();
      await store.close();
    },
  };
}
