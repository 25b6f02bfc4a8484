import { afterAll, beforeAll } from "vitest";
import type { Store } from "../../src/ports/index.ts";
import {
  createPostgresStore,
  createPostgresTokenBook,
  type PostgresStore,
} from "../../src/store/postgres/index.ts";
import type { HotParts } from "../../src/store/single-node/store.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";
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
import { tokenBookContract } from "./token-book.contract.ts";
import { turnsContract } from "./turns.contract.ts";
import { upkeepContract } from "./upkeep.contract.ts";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** Each test has a database of its own. */
function database(): StoreUnderTest {
  let url: Promise<string> | undefined;
  const open = async (parts: Omit<HotParts, "journal">): Promise<PostgresStore> => {
    url ??= postgres.createDatabase();
    return createPostgresStore({
      ...parts,
      url: await url,
      node: "node",
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
    lasting: true,
    shared: true,
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

/** A store that is still being opened: whatever is asked of it waits. */
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
    (["log", "tasks", "runs", "upkeep", "shelf", "usage", "pushes", "deliveries"] as const).map(name => [
      name,
      part(name as keyof Store),
    ]),
  );
  return { ...store, lastAt: 0, close: async () => (await opening).close() } as unknown as Store;
}

storeContract("Postgres", database);
fenceContract("Postgres", database);
turnsContract("Postgres", database);
namesContract("Postgres", database);
upkeepContract("Postgres", database);
shelfContract("Postgres", database);
quotaContract("Postgres", database);
pushesContract("Postgres", database);
packingContract("Postgres", database);
pageContract("Postgres", database);
shareContract("Postgres", database);
stormContract("Postgres", database);
tokenBookContract("Postgres", () => {
  const url = postgres.createDatabase();
  return {
    open: async now => createPostgresTokenBook({ url: await url, now, log: createTestLog() }),
    shared: true,
    remove() {},
  };
});
