import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { BUSY_MS, createTransact } from "./transact.ts";

let folder: string;
let db: DatabaseSync;
/** Holds the write lock. */
let other: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-transact-"));
  const file = join(folder, "store.db");
  // A timeout of 0 has the effect of signals: SQLite stops waiting at once.
  db = new DatabaseSync(file, { timeout: 0 });
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)");
  other = new DatabaseSync(file, { timeout: 0 });
  other.exec("BEGIN IMMEDIATE");
});
afterEach(() => {
  db.close();
  other.close();
  rmSync(folder, { recursive: true });
});

const insert = (): number => Number(db.prepare("INSERT INTO t VALUES (1)").run().changes);

it("a transaction waits for another writer until the timeout, however often SQLite gives up before", () => {
  let calls = 0;
  const transact = createTransact(db, () => {
    calls += 1;
    if (calls === 100) other.exec("COMMIT");
    return calls;
  });
  expect(transact(insert)).toBe(1);
  expect(calls).toBe(100);
});

it('after the timeout the error is "database is locked"', () => {
  let now = 0;
  const transact = createTransact(db, () => (now += BUSY_MS / 4));
  expect(() => transact(insert)).toThrow("database is locked");
  expect(now).toBeLessThanOrEqual(2 * BUSY_MS);
});

it("work that throws is rolled back, and the next transaction can begin", () => {
  other.exec("COMMIT");
  const transact = createTransact(db, () => 0);
  expect(() =>
    transact(() => {
      insert();
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(transact(() => db.prepare("SELECT count(*) AS n FROM t").get()?.n)).toBe(0);
});
