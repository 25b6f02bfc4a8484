import { afterAll, beforeAll } from "vitest";
import type { Store } from "../../src/ports/index.ts";
import type { StoreParts } from "../../src/store/kernel/store-parts.ts";
import {
  createPostgresStore,
  createPostgresTokenStore,
  type PostgresStore,
} from "../../src/store/postgres/index.ts";
import { storeContract } from "../../src/testing/contracts/store.ts";
import type { StoreUnderTest } from "../../src/testing/contracts/store-harness.ts";
import { tokenStoreContract } from "../../src/testing/contracts/token-store.ts";
import { runContract } from "../support/contract.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";

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
      onCreated: parts.onCommitted,
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

runContract("the store in Postgres", storeContract(database));
runContract(
  "tokens in Postgres",
  tokenStoreContract(() => {
    const url = postgres.createDatabase();
    return {
      open: async now => createPostgresTokenStore({ url: await url, now, log: createTestLog() }),
      shared: true,
      remove() {},
    };
  }),
);
