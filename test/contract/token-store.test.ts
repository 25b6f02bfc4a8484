import { createMemoryTokenStore } from "../../src/store/memory/token-store.ts";
import { createSqliteTokenStore } from "../../src/store/sqlite/token-store.ts";
import { tempFolder } from "../support/server.ts";
import { tokenStoreContract } from "./token-store.contract.ts";

tokenStoreContract("memory", () => ({ open: createMemoryTokenStore, shared: false, remove() {} }));
tokenStoreContract("sqlite", () => {
  const folder = tempFolder();
  return {
    open: now => createSqliteTokenStore({ folder: folder.path, now }),
    shared: true,
    remove: folder.remove,
  };
});
