import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { tempFolder } from "../support/server.ts";
import { concurrentReadersContract } from "./concurrent-readers.contract.ts";
import { fenceContract } from "./fence.contract.ts";
import { itemsContract } from "./items.contract.ts";
import { maintenanceContract } from "./maintenance.contract.ts";
import { namesContract } from "./names.contract.ts";
import { overviewContract } from "./overview.contract.ts";
import { packedEventsContract } from "./packed-events.contract.ts";
import { pageContract } from "./page.contract.ts";
import { pushesContract } from "./pushes.contract.ts";
import { quotaContract } from "./quota.contract.ts";
import { resourcesContract } from "./resources.contract.ts";
import { runQuotaContract } from "./run-quota.contract.ts";
import { schedulesContract } from "./schedules.contract.ts";
import { storageContract } from "./storage.contract.ts";
import { storeContract } from "./store.contract.ts";
import type { StoreUnderTest } from "./store-harness.ts";
import { turnsContract } from "./turns.contract.ts";

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

storeContract("memory", memory);
fenceContract("memory", memory);
turnsContract("memory", memory);
namesContract("memory", memory);
maintenanceContract("memory", memory);
storageContract("memory", memory);
resourcesContract("memory", memory);
itemsContract("memory", memory);
schedulesContract("memory", memory);
quotaContract("memory", memory);
pushesContract("memory", memory);
packedEventsContract("memory", memory);
pageContract("memory", memory);
overviewContract("memory", memory);
runQuotaContract("memory", memory);
concurrentReadersContract("memory", memory);

for (const durability of ["power", "process"] as const)
  storeContract(`SQLite (${durability})`, () => sqlite(durability));
fenceContract("SQLite", () => sqlite("process"));
turnsContract("SQLite", () => sqlite("process"));
namesContract("SQLite", () => sqlite("process"));
maintenanceContract("SQLite", () => sqlite("process"));
storageContract("SQLite", () => sqlite("process"));
resourcesContract("SQLite", () => sqlite("process"));
itemsContract("SQLite", () => sqlite("process"));
schedulesContract("SQLite", () => sqlite("process"));
quotaContract("SQLite", () => sqlite("process"));
pushesContract("SQLite", () => sqlite("process"));
packedEventsContract("SQLite", () => sqlite("process"));
pageContract("SQLite", () => sqlite("process"));
overviewContract("SQLite", () => sqlite("process"));
concurrentReadersContract("SQLite", () => sqlite("process"));
