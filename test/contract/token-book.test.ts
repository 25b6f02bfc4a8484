import { createMemoryTokenBook } from "../../src/store/memory/tokens.ts";
import { createSqliteTokenBook } from "../../src/store/sqlite/tokens.ts";
import { tempFolder } from "../support/server.ts";
import { tokenBookContract } from "./token-book.contract.ts";

tokenBookContract("memory", () => ({ open: createMemoryTokenBook, shared: false, remove() {} }));
tokenBookContract("sqlite", () => {
  const folder = tempFolder();
  return {
    open: now => createSqliteTokenBook({ folder: folder.path, now }),
    shared: true,
    remove: folder.remove,
  };
});
