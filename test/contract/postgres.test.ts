import { afterAll, beforeAll } from "vitest";
import type { Store } from "../../src/ports/index.ts";
import type { StoreParts } from "../../src/store/kernel/store-parts.ts";
import {
  createPostgresStore,
  createPostgresTokenStore,
  type PostgresStore,
} from "../../src/store/postgres/index.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";
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
import { tokenStoreContract } from "./token-store.contract.ts";
import { turnsContract } from "./turns.contract.ts";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** Each test has a database of its own. */
function database(): StoreUnderTest {
  let url: Promise<string> | undefined;
  const open = async (parts: StoreParts): Promise<PostgresStore> => {
    url ??= postgres.createDatabase();
    return createPostgresStore({
      ...parts,
      url: await url,
      node: "node",
      version: "test",
      durability: "power",
      connectionsMax: 4,
      statementMs: 10_000,
      pushLeaseMs: parts.leaseMs,
      log: createTestLog(),
    });
  };
  let opening: Promise<PostgresStore> | undefined;
  let store: Store | undefined;
  return {
    isPersistent: true,
    isShared: true,
    open(parts) {
      opening = open(parts);
      return (store = soon(opening));
    },
    async ready() {
      Object.assign(store as Store, { lastAt: (await opening)?.lastAt });
    },
    remove() {},
  };
}

/** A store that is still opening: all its calls wait. */
function soon(opening: Promise<PostgresStore>): Store {
  opening.catch(() => {});
  let opened: Store | undefined;
  void opening.then(store => (opened = store));
  const part = (name: keyof Store): object =>
    new Proxy(
      {},
      {
        get:
          (_, verb) =>
          (...words: unknown[]) => {
            const ask = (store: Store) =>
              (store[name] as unknown as Record<string | symbol, (...given: unknown[]) => unknown>)[verb]?.(
                ...words,
              );
            return opened ? ask(opened) : opening.then(ask);
          },
      },
    );
  const store = Object.fromEntries(
    (
      [
        "log",
        "tasks",
        "overview",
        "runs",
        "maintenance",
        "storage",
        "items",
        "resources",
        "schedules",
        "usage",
        "pushes",
        "deliveries",
      ] as const
    ).map(name => [name, part(name as keyof Store)]),
  );
  return { ...store, lastAt: 0, close: async () => (await opening).close() } as unknown as Store;
}

storeContract("Postgres", database);
fenceContract("Postgres", database);
turnsContract("Postgres", database);
namesContract("Postgres", database);
maintenanceContract("Postgres", database);
storageContract("Postgres", database);
resourcesContract("Postgres", database);
itemsContract("Postgres", database);
schedulesContract("Postgres", database);
quotaContract("Postgres", database);
pushesContract("Postgres", database);
packedEventsContract("Postgres", database);
pageContract("Postgres", database);
overviewContract("Postgres", database);
runQuotaContract("Postgres", database);
concurrentReadersContract("Postgres", database);
tokenStoreContract("Postgres", () => {
  const url = postgres.createDatabase();
  return {
    open: async now => createPostgresTokenStore({ url: await url, now, log: createTestLog() }),
    shared: true,
    remove() {},
  };
});
