import { createMemoryTokenStore } from "../../src/store/memory/token-store.ts";
import { createSqliteTokenStore } from "../../src/store/sqlite/token-store.ts";
import { tokenStoreContract } from "../../src/testing/contracts/token-store.ts";
import { runContract } from "../support/contract.ts";
import { tempFolder } from "../support/server.ts";

runContract(
  "tokens in memory",
  tokenStoreContract(() => ({ open: createMemoryTokenStore, shared: false, remove() {} })),
);
runContract(
  "tokens in SQLite",
  tokenStoreContract(() => {
    const folder = tempFolder();
    return {
      open: now => createSqliteTokenStore({ folder: folder.path, now }),
      shared: true,
      remove: folder.remove,
    };
  }),
);
