/** The lists of the admin API over 100,000 tasks: every query reads a bounded number of rows, through an index. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/model/index.ts";
import type { TaskOverview } from "../../src/ports/index.ts";
import { type Database, openDatabase as openPostgres } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { createOverview as createPostgresOverview } from "../../src/store/postgres/overview.ts";
import { OwnerIds } from "../../src/store/postgres/owners.ts";
import { openDatabase as openSqlite } from "../../src/store/sqlite/open.ts";
import { createOverview as createSqliteOverview } from "../../src/store/sqlite/overview.ts";
import { createOwnerTable } from "../../src/store/sqlite/owners.ts";
import { LISTS, manyRows, OWNERS, ROWS } from "../support/many-rows.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";

/** Of one query; one scan of a list reads several windows of this size. */
const ROWS_MAX = 4 * LIMITS.scanRowsMax;

describe("on SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "list-plans-"));
  const { db, unlock } = openSqlite({ folder, durability: "process" });
  const seen = new Set<string>();
  let overview: TaskOverview;

  beforeAll(() => {
    const owner = db.prepare("INSERT INTO owner (tenant, principal, agent) VALUES (?, ?, ?)");
    for (const row of OWNERS) owner.run(...row);
    const columns = "key, id, owner, context, context_id, state, rev, status_at, hidden, snapshot_seq";
    const task = db.prepare(`INSERT INTO task (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`);
    db.exec("BEGIN");
    for (const { key, id, owner: by, context, contextId, state, at } of manyRows())
      task.run(key, id, by, context, contextId, state, key, at);
    db.exec("COMMIT");
    const recording = {
      prepare(sql: string) {
        seen.add(sql);
        return db.prepare(sql);
      },
    } as typeof db;
    const backend = createSqliteOverview(recording, createOwnerTable(db));
    overview = {
      scan: async query => backend.scan(query),
      scanWaiting: async query => backend.scanWaiting(query),
      contextEnds: async contexts => contexts.map(backend.contextEnds),
      countWaiting: async owners => backend.countWaiting(owners),
      scanPushes: async () => ({ pushes: [], next: undefined }),
    } as Partial<TaskOverview> as TaskOverview;
  });
  afterAll(() => {
    db.close();
    unlock();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(Object.keys(LISTS))("%s: no query scans the tasks, or sorts them", async name => {
    seen.clear();
    await LISTS[name]?.(overview);
    for (const sql of seen) {
      const plan = db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(row => String(row.detail));
      const bad = plan.filter(
        line =>
          /^SCAN task(?! USING (COVERING )?INDEX task_(unfinished|waiting|by_state)\b)/.test(line) ||
          /ORDER BY/.test(line),
      );
      // The tasks of one context are sorted.
      if (!sql.includes("context_id = ?")) expect([sql, ...bad]).toEqual([sql]);
    }
  });
});

describe("on Postgres", () => {
  let postgres: TestPostgres;
  let db: Database;
  let overview: TaskOverview;
  const seen: { readonly sql: string; readonly values: readonly unknown[] }[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.createDatabase();
    const log = createTestLog();
    await migrate({ url, log });
    db = await openPostgres({ url, log, durability: "process", connectionsMax: 2, statementMs: 60_000 });
    const columns = "tenant, principal, agent";
    for (const row of OWNERS) await db.query(`INSERT INTO owner (${columns}) VALUES ($1, $2, $3)`, row);
    const rows = [...manyRows()];
    await db.query(
      "INSERT INTO task (id, owner, context, context_id, alone, state, seq, rev, xid, status_at, hidden, arrived) " +
        "SELECT id, owner, context, context_id, true, state, 5, at, '1', at, false, at FROM " +
        "unnest($1::uuid[], $2::int[], $3::bigint[], $4::text[], $5::int[], $6::bigint[]) " +
        "AS r(id, owner, context, context_id, state, at)",
      [
        rows.map(row => row.id),
        rows.map(row => row.owner),
        rows.map(row => row.context),
        rows.map(row => row.contextId),
        rows.map(row => row.state),
        rows.map(row => row.at),
      ],
    );
    await db.query("ANALYZE");
    const recording: Database = {
      ...db,
      query(sql, values = []) {
        seen.push({ sql: typeof sql === "string" ? sql : sql.text, values });
        return db.query(sql, values);
      },
    };
    overview = createPostgresOverview({
      db: recording,
      owners: new OwnerIds(db),
      reader: undefined as never,
      readNodes: async () => [],
    });
  });
  afterAll(async () => {
    await db?.close();
    await postgres?.stop();
  });

  it.each(Object.keys(LISTS))("%s: every query reads a bounded number of rows", async name => {
    seen.length = 0;
    await LISTS[name]?.(overview);
    for (const { sql, values } of seen.slice()) {
      const [row] = await db.query<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF, BUFFERS OFF) ${sql}`,
        values,
      );
      const plan = row?.["QUERY PLAN"][0]?.Plan as PlanNode;
      expect(plan["Node Type"]).toBeDefined();
      expect([sql, rowsOf(plan) <= ROWS_MAX]).toEqual([sql, true]);
    }
  });

  it("the rows are there", async () => {
    expect(await db.query("SELECT count(*) FROM task")).toEqual([{ count: ROWS }]);
  });
});

interface PlanNode {
  readonly "Node Type": string;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that the scans of a plan read, those included that a filter removed. */
function rowsOf(node: PlanNode): number {
  const read = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
  const own = /Scan$/.test(node["Node Type"]) ? read * (node["Actual Loops"] ?? 1) : 0;
  const below = (node.Plans ?? []).map(rowsOf);
  // A scan of a subquery or of a bitmap reads the rows of the scan below it.
  return Math.max(own, 0) > 0 && below.length > 0
    ? Math.max(own, ...below)
    : own + below.reduce((a, b) => a + b, 0);
}
