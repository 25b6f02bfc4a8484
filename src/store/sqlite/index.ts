import type { Store } from "../../ports/index.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { createSingleNodeStore } from "../single-node/store.ts";
import { createSqliteBackend } from "./backend.ts";
import { createMaintenanceThread } from "./maintenance-thread.ts";
import { openDatabase, type SqliteParts, toStartupError } from "./open.ts";

export { markOpened } from "./data-loss.ts";
export { findKeyUse, LOST_KEYS_HINT } from "./maintenance/re-encrypt.ts";
export { createSqliteTokenStore } from "./token-store.ts";

/** The embedded store: one folder, one process, survives a kill at any moment. */
export function createSqliteStore(parts: SqliteParts & StoreParts): Store {
  const { db, file, unlock } = openDatabase(parts);
  db.exec("PRAGMA wal_autocheckpoint = 0");
  const thread = createMaintenanceThread(file);
  let store: Store;
  try {
    const { ticks } = parts;
    const { findExpired } = thread;
    const backend = createSqliteBackend({ db, findExpired, ticks, onClose: unlock });
    store = createSingleNodeStore({ ...parts, backend });
  } catch (error) {
    // Any query of a damaged file can fail.
    void thread.stop();
    db.close();
    thread.closeHandle();
    unlock();
    throw toStartupError(error, file);
  }
  return {
    ...store,
    async close() {
      await thread.stop();
      await store.close();
      thread.closeHandle();
    },
  };
}
