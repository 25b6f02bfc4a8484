import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type ContextId, LIMITS, type TaskId } from "../../src/model/index.ts";
import type { PushSubscription, Run } from "../../src/ports/index.ts";
import type { StoreParts } from "../../src/store/kernel/store-parts.ts";
import { openDatabase, type Queryable } from "../../src/store/postgres/database.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { markMissedPushes } from "../../src/store/postgres/pushes.ts";
import {
  AGENTS,
  alice,
  chunk,
  ECHO,
  StoreHarness,
  status,
} from "../../src/testing/contracts/store-harness.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { createTestLog } from "../support/server.ts";
import { openNode } from "./postgres-node.ts";

/** Several nodes on one Postgres, beyond the contract of every store. */

let postgres: TestPostgres;
let url: string;
let on: StoreHarness;
let nodes: PostgresStore[] = [];
let side: Client;

beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());
beforeEach(async () => {
  url = await postgres.createDatabase();
  on = new StoreHarness({
    open: () => nodes[0] as PostgresStore,
    isPersistent: true,
    isShared: true,
    remove() {},
  });
  side = new Client({ connectionString: url });
  await side.connect();
});
afterEach(async () => {
  await Promise.all(nodes.map(node => node.close()));
  nodes = [];
  await side.end();
});

const LEASE_MS = 1_000;

/** Opens a node; the first one is the store of the harness. */
async function open(more: Partial<StoreParts> = {}): Promise<PostgresStore> {
  const name = `node ${nodes.length}`;
  const node = await openNode(() => on, {
    leaseMs: LEASE_MS,
    pushLeaseMs: LEASE_MS,
    ...more,
    url,
    node: name,
  });
  nodes.push(node);
  on.store = nodes[0] as PostgresStore;
  return node;
}
const claim = (node: PostgresStore, max = 10): Promise<readonly Run[]> =>
  node.runs.claim("worker", AGENTS, max);
const settle = (node: PostgresStore, run: Run): Promise<void> =>
  node.log.append(run.scope, run.task.id, [status("completed")], { run });
const push = (id: string) => ({
  config: { id, url: `https://${id}.example/`, origin: "v1", events: "all" as const },
  key: `key-${id}`,
  opening: "task" as const,
});

it("a connection that breaks during a transaction fails only that transaction", async () => {
  const db = await openDatabase({
    url,
    durability: "power",
    connectionsMax: 2,
    statementMs: 10_000,
    log: createTestLog(),
  });
  const work = db.transact(async ask => {
    const [{ pid }] = (await ask.query("SELECT pg_backend_pid() AS pid")) as [{ pid: number }];
    await side.query("SELECT pg_terminate_backend($1)", [pid]);
    // The connection ends while it is idle.
    await new Promise(resolve => void setTimeout(resolve, 100));
    await ask.query("SELECT 1");
  });
  await expect(work).rejects.toMatchObject({ code: "unavailable" });
  expect(await db.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await db.close();
});

it("transactions in a deadlock are retried", async () => {
  const db = await openDatabase({
    url,
    durability: "power",
    connectionsMax: 2,
    statementMs: 10_000,
    log: createTestLog(),
  });
  await db.query("CREATE TABLE pair (id int PRIMARY KEY, count int NOT NULL DEFAULT 0)");
  await db.query("INSERT INTO pair (id) VALUES (1), (2)");
  let arrived = 0;
  const both = async (first: number, second: number): Promise<void> =>
    db.transact(async ask => {
      await ask.query("UPDATE pair SET count = count + 1 WHERE id = $1", [first]);
      arrived += 1;
      while (arrived < 2) await new Promise(resolve => void setTimeout(resolve, 5));
      await ask.query("UPDATE pair SET count = count + 1 WHERE id = $1", [second]);
    });
  await Promise.all([both(1, 2), both(2, 1)]);
  expect(await db.query("SELECT count FROM pair")).toEqual([{ count: 2 }, { count: 2 }]);
  await db.close();
});

it("a task that arrives while the previous task of its context is settling becomes due", async () => {
  let due = 0;
  const a = await open({ onDue: () => void due++ });
  const b = await open();
  const contextId = on.newId() as ContextId;
  await on.createTask({ contextId });
  const [run] = (await claim(a)) as [Run];
  // The settling transaction sees the queue as it was when its statement began, and commits later.
  await side.query(
    "CREATE FUNCTION wait() RETURNS trigger AS $$ BEGIN PERFORM pg_advisory_lock(1); PERFORM pg_advisory_unlock(1); RETURN NEW; END $$ LANGUAGE plpgsql;" +
      "CREATE TRIGGER wait BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.state >= 2) EXECUTE FUNCTION wait();" +
      "SELECT pg_advisory_lock(1)",
  );
  const settled = settle(a, run);
  await expect
    .poll(async () => (await side.query("SELECT 1 FROM pg_locks WHERE NOT granted")).rows.length)
    .toBe(1);
  const next = on.newId() as TaskId;
  on.store = b;
  await on.append(next, { contextId });
  expect(await claim(b)).toEqual([]);
  due = 0;
  await side.query("SELECT pg_advisory_unlock(1)");
  await settled;
  await expect.poll(() => due).toBeGreaterThan(0);
  expect((await claim(b)).map(one => one.task.id)).toEqual([next]);
});

it("a started task runs before a task that arrived at the same time and was not started", async () => {
  const a = await open();
  const contextId = on.newId() as ContextId;
  const begun = await on.createTask({ contextId });
  await claim(a);
  const other = await on.createTask({ contextId });
  // Sequence numbers are drawn before the commit: the row with the smaller number may become visible later.
  await side.query("UPDATE task SET arrived = 0 WHERE id = $1", [other]);
  expect(await claim(a)).toEqual([]);
  on.now += 2 * LEASE_MS;
  expect((await claim(a)).map(run => [run.task.id, run.attempt])).toEqual([[begun, 2]]);
});

it("a task whose row is locked during a claim is claimed a moment later", async () => {
  const a = await open();
  const id = await on.createTask();
  await side.query("BEGIN");
  await side.query("SELECT 1 FROM task WHERE id = $1 FOR UPDATE", [id]);
  const claimed = claim(a);
  await new Promise(resolve => void setTimeout(resolve, 10));
  await side.query("COMMIT");
  expect((await claimed).map(run => run.task.id)).toEqual([id]);
});

it("two nodes that claim at the same time respect a quota together", async () => {
  const runQuota = () => ({ caller: 3, tenant: 3 });
  const both = [await open({ runQuota }), await open({ runQuota })];
  for (let i = 0; i < 10; i++) await on.createTask();
  const claims = await Promise.all([...both, ...both].map(node => claim(node)));
  expect(claims.flat()).toHaveLength(3);
});

it("of very many callers each gets its turn, and each task is claimed once", async () => {
  const a = await open();
  const callers = 1_100;
  await side.query(
    "INSERT INTO owner (tenant, principal, agent) SELECT 'acme', 'caller ' || i, 'echo' FROM generate_series(1, $1::int) i",
    [callers],
  );
  await side.query(
    `INSERT INTO task (id, owner, context, context_id, alone, state, seq, rev, xid, status_at, hidden, arrived)
     SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(id), 12, '0'))::uuid, id, id, 'c', false, 0, 2,
       nextval('revision'), pg_current_xact_id(), 1, false, nextval('revision') FROM owner`,
  );
  await side.query(
    `INSERT INTO segment (task, last, rev, xid, events) SELECT key, 2, rev, xid,
       '[[1,{"type":"created","id":"' || id || '","contextId":"c","agent":"echo","origin":"v1","shown":true}],' ||
       '[1,{"type":"message","message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}]]' FROM task`,
  );
  const taken: TaskId[] = [];
  for (let runs = await claim(a, 200); runs.length > 0; runs = await claim(a, 200))
    taken.push(...runs.map(run => run.task.id));
  expect([taken.length, new Set(taken).size]).toEqual([callers, callers]);
});

it("many leases are renewed together, with a result for each", async () => {
  const [a, b] = [await open(), await open()];
  for (let i = 0; i < 5; i++) await on.createTask();
  const runs = await claim(a);
  on.now += 2 * LEASE_MS;
  const taken = new Set((await claim(b, 2)).map(run => run.task.id));
  expect(taken.size).toBe(2);
  const kept = await Promise.all(runs.map(run => a.runs.renew(run)));
  expect(kept).toEqual(runs.map(run => !taken.has(run.task.id)));
});

it("a node reads the writes of another after a notification, and without one where it must be sure", async () => {
  const [a, b] = [await open(), await open()];
  const id = await on.createTask();
  const [run] = (await claim(a)) as [Run];
  expect((await b.tasks.get(alice, id))?.seq).toBe(3);
  await a.log.append(alice, id, [chunk("x")], { run });
  expect(await b.log.read(alice, id, 3 as never, 10)).toEqual([]);
  b.invalidate(id);
  expect((await b.log.read(alice, id, 3 as never, 10)).map(step => step.seq)).toEqual([4]);
  await a.log.append(alice, id, [chunk("y")], { run });
  expect((await b.tasks.get(alice, id))?.seq).toBe(5);
});

it("a task that cannot be read fails neither a list nor the runs of others", async () => {
  const a = await open();
  const ids = [await on.createTask(), await on.createTask()];
  await side.query("UPDATE segment SET events = '[[' WHERE task = (SELECT key FROM task WHERE id = $1)", [
    ids[0],
  ]);
  const other = await open();
  expect((await other.tasks.list(alice, ECHO, { pageSize: 10 })).tasks.map(task => task.id)).toEqual([
    ids[1],
  ]);
  expect((await claim(other)).map(run => run.task.id)).toEqual([ids[1]]);
  expect(a).toBeDefined();
});

it("a claim of a delivery that was taken over is lost, also on the same node", async () => {
  const a = await open();
  const id = await on.createTask();
  await a.pushes.set(alice, id, push("a"));
  const [first] = (await a.deliveries.claim(new Set(), 1)) as [PushSubscription];
  on.now += 2 * LEASE_MS;
  const [second] = (await a.deliveries.claim(new Set(), 1)) as [PushSubscription];
  const progress = { cursor: 2 as never, state: "live" as const };
  expect(await a.deliveries.record(first, progress, undefined)).toBeNull();
  expect(await a.deliveries.record(second, progress, undefined)).toMatchObject({ cursor: 2 });
});

it("events that were appended while a config was being set are delivered", async () => {
  const a = await open();
  const id = await on.createTask();
  await a.pushes.set(alice, id, push("a"));
  const [held] = (await a.deliveries.claim(new Set(), 1)) as [PushSubscription];
  await a.deliveries.release(held, 2 as never, false);
  await claim(a);
  await side.query("UPDATE push SET happened = 0");
  expect(await a.deliveries.claim(new Set(), 1)).toEqual([]);
  const asker: Queryable = { query: async sql => (await side.query(sql)).rows };
  expect([await markMissedPushes(asker), await markMissedPushes(asker)]).toEqual([1, 0]);
  expect(await a.deliveries.claim(new Set(), 1)).toMatchObject([{ cursor: 2 }]);
});

it("a node knows when the claims of a stopped node expire", async () => {
  const [a, b] = [await open(), await open()];
  const id = await on.createTask();
  await a.pushes.set(alice, id, push("a"));
  await a.deliveries.claim(new Set(), 1);
  expect(await b.deliveries.nextInMs()).toBe(LEASE_MS);
});

it("a node knows the number of nodes", async () => {
  const a = await open();
  expect(a.nodes()).toBe(1);
  const b = await open();
  expect(b.nodes()).toBe(2);
  await expect.poll(() => a.nodes(), { timeout: 15_000 }).toBe(2);
  await b.close();
  nodes = [a];
  expect((await side.query("SELECT id FROM node")).rows).toEqual([{ id: "node 0" }]);
});

it("lists are complete in a database that was restored from a dump", async () => {
  const a = await open();
  const ids = [await on.createTask(), await on.createTask()];
  await a.close();
  nodes = [];
  // As on a server with a smaller transaction counter.
  await side.query(
    "UPDATE task SET xid = '9000000000'; UPDATE segment SET xid = '9000000000' WHERE xid IS NOT NULL",
  );
  const b = await open();
  const listed = await b.tasks.list(alice, ECHO, { pageSize: LIMITS.pageSizeDefault });
  expect(listed.tasks.map(task => task.id).toSorted()).toEqual(ids.toSorted());
});
