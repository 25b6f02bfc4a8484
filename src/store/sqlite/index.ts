import type { Store } from "../../ports.ts";
import { createHotStore, type HotParts } from "../hot/store.ts";
import { createSqliteJournal } from "./journal.ts";
import { startKeeper } from "./keeper.ts";
import { asRefusal, type OpenParts, openDatabase } from "./open.ts";

export type { TaskStory } from "../rows/story.ts";
export { createSqliteTokenBook } from "./access.ts";
export { copyStore } from "./copy.ts";
export { examineStore, type Report } from "./examine.ts";
export { markOpened } from "./former.ts";
export { openToLeave } from "./leave.ts";
export { KEY_WAYS_OUT, whyKeysAreNeeded } from "./lost-keys.ts";
export { StoreRefusal, storeDamage } from "./open.ts";
export { type Purged, purgeStore } from "./purge.ts";
export { countSealed, type Resealed, resealStore } from "./reseal.ts";
export { readStory } from "./story.ts";
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
