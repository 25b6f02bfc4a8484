import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { tempFolder } from "../support/server.ts";
import { fenceContract } from "./fence.contract.ts";
import { namesContract } from "./names.contract.ts";
import { packingContract } from "./packing.contract.ts";
import { pageContract } from "./page.contract.ts";
import { pushesContract } from "./pushes.contract.ts";
import { quotaContract } from "./quota.contract.ts";
import { shareContract } from "./share.contract.ts";
import { shelfContract } from "./shelf.contract.ts";
import type { StoreUnderTest } from "./stage.ts";
import { storeContract } from "./store.contract.ts";
import { stormContract } from "./storm.contract.ts";
import { turnsContract } from "./turns.contract.ts";
import { upkeepContract } from "./upkeep.contract.ts";

const memory = (): StoreUnderTest => ({ open: createMemoryStore, lasting: false, remove() {} });

function sqlite(durability: "power" | "process"): StoreUnderTest {
  const folder = tempFolder();
  return {
    open: parts => createSqliteStore({ ...parts, folder: folder.path, durability }),
    lasting: true,
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
upkeepContract("memory", memory);
shelfContract("memory", memory);
quotaContract("memory", memory);
pushesContract("memory", memory);
packingContract("memory", memory);
pageContract("memory", memory);
shareContract("memory", memory);
stormContract("memory", memory);

for (const durability of ["power", "process"] as const)
  storeContract(`SQLite (${durability})`, () => sqlite(durability));
fenceContract("SQLite", () => sqlite("process"));
turnsContract("SQLite", () => sqlite("process"));
namesContract("SQLite", () => sqlite("process"));
upkeepContract("SQLite", () => sqlite("process"));
shelfContract("SQLite", () => sqlite("process"));
quotaContract("SQLite", () => sqlite("process"));
pushesContract("SQLite", () => sqlite("process"));
packingContract("SQLite", () => sqlite("process"));
pageContract("SQLite", () => sqlite("process"));
stormContract("SQLite", () => sqlite("process"));
