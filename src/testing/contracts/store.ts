/** The whole contract of a store. */
import { concurrentReadersContract } from "./concurrent-readers.ts";
import type { ContractCase } from "./contract.ts";
import { fenceContract } from "./fence.ts";
import { itemsContract } from "./items.ts";
import { logContract } from "./log.ts";
import { maintenanceContract } from "./maintenance.ts";
import { namesContract } from "./names.ts";
import { overviewContract } from "./overview.ts";
import { packedEventsContract } from "./packed-events.ts";
import { pageContract } from "./page.ts";
import { pushesContract } from "./pushes.ts";
import { quotaContract } from "./quota.ts";
import { resourcesContract } from "./resources.ts";
import { runQuotaContract } from "./run-quota.ts";
import { schedulesContract } from "./schedules.ts";
import { storageContract } from "./storage.ts";
import type { StoreUnderTest } from "./store-harness.ts";
import { turnsContract } from "./turns.ts";

/** `create`: called once for each case. */
export const storeContract = (create: () => StoreUnderTest): readonly ContractCase[] =>
  [
    logContract,
    fenceContract,
    turnsContract,
    namesContract,
    maintenanceContract,
    storageContract,
    resourcesContract,
    itemsContract,
    schedulesContract,
    quotaContract,
    pushesContract,
    packedEventsContract,
    pageContract,
    overviewContract,
    runQuotaContract,
    concurrentReadersContract,
  ].flatMap(contract => contract(create));
