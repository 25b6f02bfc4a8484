import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Run } from "../../src/ports/index.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { MIGRATIONS, type Migration } from "../../src/store/postgres/sql/index.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";
import { openNode } from "./postgres-node.ts";
import { Stage } from "./stage.ts";

/** Servers of two releases on one Postgres, while one takes the place of the other. */

let postgres: TestPostgres;
let url: string;
let on: Stage;
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
/** Of the next release: it adds a column and a table. */
const ADDING: Migration = {
  sql: "ALTER TABLE task ADD COLUMN colour text; CREATE TABLE palette (colour text PRIMARY KEY)",
  oldest: NOW,
};
/** Of the one after it: what this release needs is gone. */
const BREAKING: Migration = { sql: "ALTER TABLE task DROP COLUMN alone", oldest: NOW + 1 };

/** A node of this release. */
async function open(): Promise<PostgresStore> {
  on = new Stage({ open: () => nodes.at(-1) as PostgresStore, lasting: true, shared: true, remove() {} });
  const node = await openNode(() => on, { url, node: `node ${nodes.length}`, connectionsMax: 2, log });
  nodes.push(node);
  on.store = node;
  return node;
}
const upgrade = (...more: readonly Migration[]): Promise<void> =>
  migrate({ url, log, migrations: [...MIGRATIONS, ...more] });

it("nodes of this release work on after the next one has added to the tables, and can be started again", async () => {
  await open();
  const id = await on.createTask();
  await upgrade(ADDING);
  await on.complete(await on.begin(id));
  await open();
  await on.completeTask();
});

it("what they could not work with waits until they are gone, and is refused to them afterwards", async () => {
  const node = await open();
  await expect(upgrade(ADDING, BREAKING)).rejects.toThrow(/1 servers of an older Dragoman/);
  await on.completeTask();
  await node.close();
  nodes = [];
  await upgrade(ADDING, BREAKING);
  await expect(open()).rejects.toThrow(
    `written by a newer Dragoman (schema ${NOW + 2}; this one knows up to ${NOW}, and cannot work beside it)`,
  );
});

it("many nodes that start at once make the tables once", async () => {
  await Promise.all(Array.from({ length: 5 }, open));
  const runs: readonly Run[] = await on.store.runs.claim("w", new Set(), 1);
  expect(runs).toEqual([]);
});

/** What a server of the release before would stumble over. */
const BREAKS: readonly RegExp[] = [
  /\bDROP\s+(?!INDEX)/i,
  /\bRENAME\b/i,
  /\bALTER\s+COLUMN\b/i,
  /\bADD\s+COLUMN\s+(?:(?!,|;).)*NOT\s+NULL(?!\s+DEFAULT)/i,
  /\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)\b/i,
];
const isAdding = ({ sql }: Migration): boolean => !BREAKS.some(pattern => pattern.test(sql));

it("a migration beside which older servers may work on only adds to the tables", () => {
  for (const [i, migration] of MIGRATIONS.entries()) {
    expect(migration.oldest).toBeGreaterThanOrEqual(MIGRATIONS[i - 1]?.oldest ?? 1);
    expect(migration.oldest).toBeLessThanOrEqual(i + 1);
    if (migration.oldest <= i) expect([i + 1, isAdding(migration)]).toEqual([i + 1, true]);
  }
  expect([ADDING, BREAKING].map(isAdding)).toEqual([true, false]);
});
