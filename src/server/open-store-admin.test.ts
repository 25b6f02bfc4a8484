import { expect, it } from "vitest";
import { StartupError } from "../lib/startup-error.ts";
import { migrateStore, openStoreAdmin, toLocation } from "./open-store-admin.ts";

const URL = "postgres://me:secret@db.example/tasks";
const OBSERVER = { onProgress() {}, signal: new AbortController().signal };
const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const open = (data: string) => openStoreAdmin({ data, now: () => 0, ticks: () => 0 });

it("the location of a database has no password", async () => {
  expect((await open(URL)).location).toBe("postgres://me@db.example/tasks");
  expect(toLocation("/srv/tasks")).toBe("/srv/tasks");
});

it("operations that Postgres does not support name the alternative, without a connection", async () => {
  const store = await open(URL);
  await expect(store.backup("copy.db", OBSERVER)).rejects.toThrow(/pg_dump/);
  const request = { agent: undefined, retention: {}, dryRun: true, onProgress() {} };
  await expect(store.purge(request)).rejects.toThrow(/retention/);
  const encryption = { encrypt: (text: string) => text, decrypt: (text: string) => text };
  await expect(store.reEncrypt(encryption)).rejects.toThrow(StartupError);
  expect(await store.countEncrypted()).toBe(undefined);
});

it("a store in memory has no administration, and only a folder can be migrated, only into Postgres", async () => {
  await expect(open(":memory:")).rejects.toThrow(/Set --data to a folder/);
  const migrate = (folder: string, url: string) => migrateStore({ folder, url, log: LOG, ...OBSERVER });
  await expect(migrate(URL, URL)).rejects.toThrow(/pg_dump/);
  await expect(migrate("/srv/tasks", "mysql://db")).rejects.toThrow(/postgres:\/\/user:password@host/);
});
