import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { INSERT, INSERT_AND_UPDATE, UPDATE } from "../../src/store/postgres/commit-sql.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { UPDATES } from "../../src/store/postgres/reader.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";

/** Plans of statements that a connection to Postgres keeps. */

let postgres: TestPostgres;
let url: string;
let side: Client;
let db: Database;
const log = createTestLog();
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());
beforeEach(async () => {
  url = await postgres.createDatabase();
  await migrate({ url, log });
  side = new Client({ connectionString: url });
  await side.connect();
  const settings = { durability: "power", connectionsMax: 1, statementMs: 10_000 } as const;
  db = await openDatabase({ url, ...settings, keepsPlans: true, log });
});
afterEach(async () => {
  await db.close();
  await side.end();
});

const fill = (tasks: number): Promise<unknown> =>
  side.query(
    `INSERT INTO task (id, owner, context, context_id, alone, state, seq, rev, xid, status_at, hidden, arrived)
     SELECT gen_random_uuid(), 1, i, 'c', false, 4, 2, i, pg_current_xact_id(), 1, false, i FROM generate_series(1, ${tasks}) i`,
  );

describe("a plan that is made while the tables are small, and kept when they have grown", () => {
  for (const tasks of [0, 5, 60, 2_000])
    for (const statement of [UPDATE, INSERT_AND_UPDATE])
      it(`finds each task by its key (${statement.name}, ${tasks} tasks)`, async () => {
        if (tasks > 0) {
          await fill(tasks);
          await side.query("ANALYZE task");
        }
        const rows = await db.query<{ "QUERY PLAN": string }>(`EXPLAIN (GENERIC_PLAN) ${statement.text}`);
        const plan = rows.map(row => row["QUERY PLAN"]).join("\n");
        expect(plan.match(/(?:Index|Bitmap Heap) Scan .*on task/g)).toHaveLength(2);
        expect(plan).not.toMatch(/Seq Scan on (task|push)|Hash Join|Merge Join/);
        // A join of two lists of the same commit would take quadratic time.
        expect(plan.match(/Nested Loop/g)).toHaveLength(3);
      });

  for (const tasks of [0, 2_000])
    it(`finds the new segments of a task by their numbers (${tasks} tasks)`, async () => {
      if (tasks > 0) {
        await fill(tasks);
        await side.query("ANALYZE task");
      }
      const rows = await db.query<{ "QUERY PLAN": string }>(`EXPLAIN (GENERIC_PLAN) ${UPDATES.text}`);
      const plan = rows.map(row => row["QUERY PLAN"]).join("\n");
      expect(plan).toMatch(/Index Cond: \(\(task = t\.key\) AND \(last > GREATEST\(k\.seq, t\.since\)\)\)/);
      expect(plan).not.toMatch(/Seq Scan|Hash Join|Merge Join/);
    });

  it("of an insertion reads no table", async () => {
    const rows = await db.query<{ "QUERY PLAN": string }>(`EXPLAIN (GENERIC_PLAN) ${INSERT.text}`);
    expect(rows.map(row => row["QUERY PLAN"]).join("\n")).not.toMatch(
      /Scan (using .* )?on (task|segment)|Loop|Join/,
    );
  });
});

describe("a kept statement", () => {
  const kept = {
    name: "one",
    text: "SELECT count(*)::int AS one FROM pg_prepared_statements WHERE name = 'one'",
  };

  it("is prepared once, and other connections keep none", async () => {
    await db.query(kept);
    expect(await db.query(kept)).toEqual([{ one: 1 }]);
    const other = await openDatabase({
      url,
      durability: "power",
      connectionsMax: 1,
      statementMs: 10_000,
      log,
    });
    await other.query(kept);
    expect(await other.query(kept)).toEqual([{ one: 0 }]);
    await other.close();
  });

  it("that another client of the same connection has removed is sent again", async () => {
    await db.query(kept);
    // As a pooler that was not recognised may do.
    await db.query("DEALLOCATE ALL");
    expect(await db.query(kept)).toEqual([{ one: 0 }]);
  });

  it("is sent again inside a transaction, which is repeated", async () => {
    await db.query(kept);
    await db.query("DEALLOCATE ALL");
    expect(await db.transact(tx => tx.query(kept))).toEqual([{ one: 0 }]);
  });
});

describe("the connection of commits", () => {
  const PID = "SELECT pg_backend_pid() AS pid";
  const under = (ms: number): Promise<unknown> => db.query(`SELECT pg_sleep(${ms / 1_000})`);

  it("gets the next statement while one is under way, and answers them in order", async () => {
    const order: string[] = [];
    const first = under(100).then(() => order.push("first"));
    const sent = db
      .query<{ at: Date }>("SELECT statement_timestamp() AS at")
      .then(() => order.push("second"));
    await Promise.all([first, sent]);
    expect(order).toEqual(["first", "second"]);
  });

  it("has a transaction to itself: statements that are sent meanwhile are not part of it", async () => {
    const isolated = db.transact(async tx => {
      await tx.query("SELECT pg_advisory_xact_lock(1)");
      const outside = db.query<{ xid: string | null }>(
        "SELECT pg_current_xact_id_if_assigned()::text AS xid",
      );
      await tx.query("CREATE TABLE mine (id int)");
      return { outside };
    });
    const { outside } = await isolated;
    expect(await outside).toEqual([{ xid: null }]);
  });

  it("goes on after an error of one statement, and the statements behind it are executed", async () => {
    const [before] = await db.query<{ pid: number }>(PID);
    const failed = db.query("SELECT 1 / 0");
    const next = db.query<{ pid: number }>(PID);
    await expect(failed).rejects.toThrow("division by zero");
    expect(await next).toEqual([before]);
  });

  it("that was ended is replaced, and each statement that was under way fails", async () => {
    const [before] = await db.query<{ pid: number }>(PID);
    const waiting = [under(60_000), under(60_000)].map(sent =>
      sent.catch((error: { code?: string }) => error.code),
    );
    await side.query("SELECT pg_terminate_backend($1)", [before?.pid]);
    expect(await Promise.all(waiting)).toEqual(["unavailable", "unavailable"]);
    const [after] = await db.query<{ pid: number }>(PID);
    expect(after?.pid).not.toBe(before?.pid);
  });
});
