import { createMemoryStore } from "../../src/store/memory/index.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { tempFolder } from "../support/server.ts";
import { storeContract } from "./store.contract.ts";

storeContract("memory", () => ({ open: createMemoryStore, lasting: false, remove() {} }));

for (const durability of ["power", "process"] as const)
  storeContract(`SQLite (${durability})`, () => {
    const folder = tempFolder();
    return {
      open: parts => createSqliteStore({ ...parts, folder: folder.path, durability }),
      lasting: true,
      remove: folder.remove,
    };
  });
