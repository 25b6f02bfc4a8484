import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { logContract } from "../../src/testing/contracts/log.ts";
import { storeContract } from "../../src/testing/contracts/store.ts";
import type { StoreUnderTest } from "../../src/testing/contracts/store-harness.ts";
import { runContract } from "../support/contract.ts";
import { tempFolder } from "../support/server.ts";

const memory = (): StoreUnderTest => ({ open: createMemoryStore, isPersistent: false, remove() {} });

function sqlite(durability: "power" | "process"): StoreUnderTest {
  const folder = tempFolder();
  return {
    open: parts => createSqliteStore({ ...parts, folder: folder.path, durability }),
    isPersistent: true,
    setFull(full) {
      const db = new DatabaseSync(join(folder.path, "dragoman.db"));
      for (const table of ["task", "segment"])
        for (const verb of ["INSERT", "DELETE"])
          db.exec(
            full
              ? `CREATE TRIGGER full_${table}_${verb} BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(ABORT, 'full'); END`
              : `DROP TRIGGER full_${table}_${verb}`,
          );
      db.close();
    },
    remove: folder.remove,
  };
}

runContract("the store in memory", storeContract(memory));
runContract(
  "the store in SQLite",
  storeContract(() => sqlite("process")),
);
runContract(
  "the store in SQLite that survives a power failure",
  logContract(() => sqlite("power")),
);
