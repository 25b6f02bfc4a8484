import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Run } from "../../src/ports/index.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { MIGRATIONS, type Migration } from "../../src/store/postgres/sql/index.ts";
import { StoreHarness } from "../../src/testing/contracts/store-harness.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";
import { openNode } from "./postgres-node.ts";

/** Servers of two releases on one Postgres, during a rolling update. */

let postgres: TestPostgres;
let url: string;
let on: StoreHarness;
let nodes: PostgresStore[] = [];
const log = createTestLog();
beforeAll(async () => {
  postgres = await startPostgres();
});
beforeEach(async () => {
  url = await postgres.createDatabase();
});
afterEach(async () => {
  await Promise.all(nodes.map(node => node.close()));
  nodes = [];
});
afterAll(() => postgres.stop());

const NOW = MIGRATIONS.length;
/** The migration of the next release: it adds a column and a table. */
const ADDING: Migration = {
  sql: "ALTER TABLE task ADD COLUMN colour text; CREATE TABLE palette (colour text PRIMARY KEY)",
  oldest: NOW,
};
/** The migration of the release after it: it drops a column that this release needs. */
const BREAKING: Migration = { sql: "ALTER TABLE task DROP COLUMN alone", oldest: NOW + 1 };

/** A node of this release. */
async function open(): Promise<PostgresStore> {
  on = new StoreHarness({
    open: () => nodes.at(-1) as PostgresStore,
    isPersistent: true,
    isShared: true,
    remove() {},
  });
  const node = await openNode(() => on, { url, node: `node ${nodes.length}`, connectionsMax: 2, log });
  nodes.push(node);
  on.store = node;
  return node;
}
const upgrade = (...more: readonly Migration[]): Promise<void> =>
  migrate({ url, log, migrations: [...MIGRATIONS, ...more] });

it("nodes of this release continue after an additive migration, and can be restarted", async () => {
  await open();
  const id = await on.createTask();
  await upgrade(ADDING);
  await on.complete(await on.claimRun(id));
  await open();
  await on.completeTask();
});

it("an incompatible migration waits until they have stopped, and prevents them from starting afterwards", async () => {
  const node = await open();
  await expect(upgrade(ADDING, BREAKING)).rejects.toThrow(
    /Servers of an older Dragoman are still running on this database \(1\)/,
  );
  await on.completeTask();
  await node.close();
  nodes = [];
  await upgrade(ADDING, BREAKING);
  await expect(open()).rejects.toThrow(
    `written by a newer Dragoman (schema ${NOW + 2}; this one knows up to ${NOW}, and is not compatible with it)`,
  );
});

it("many nodes that start at once create the tables once", async () => {
  await Promise.all(Array.from({ length: 5 }, open));
  const runs: readonly Run[] = await on.store.runs.claim("w", new Set(), 1);
  expect(runs).toEqual([]);
});

/** Statements that would break a server of the previous release. */
const BREAKS: readonly RegExp[] = [
  /\bDROP\s+(?!INDEX)/i,
  /\bRENAME\b/i,
  /\bALTER\s+COLUMN\b/i,
  /\bADD\s+COLUMN\s+(?:(?!,|;).)*NOT\s+NULL(?!\s+DEFAULT)/i,
  /\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)\b/i,
];
const isAdding = ({ sql }: Migration): boolean => !BREAKS.some(pattern => pattern.test(sql));

it("a migration that is compatible with older servers only adds to the tables", () => {
  for (const [i, migration] of MIGRATIONS.entries()) {
    expect(migration.oldest).toBeGreaterThanOrEqual(MIGRATIONS[i - 1]?.oldest ?? 1);
    expect(migration.oldest).toBeLessThanOrEqual(i + 1);
    if (migration.oldest <= i) expect([i + 1, isAdding(migration)]).toEqual([i + 1, true]);
  }
  expect([ADDING, BREAKING].map(isAdding)).toEqual([true, false]);
});
