import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Latch } from "../../src/lib/latch.ts";
import type { ContextId, TaskEvent, TaskId } from "../../src/model/index.ts";
import type { Run } from "../../src/ports/index.ts";
import type { StoreParts } from "../../src/store/kernel/store-parts.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { contextLock } from "../../src/store/postgres/run-sql.ts";
import {
  AGENTS,
  alice,
  chunk,
  faultCode,
  StoreHarness,
  status,
} from "../../src/testing/contracts/store-harness.ts";
import { type LossyPostgres, openLossyPostgres } from "../support/lossy-postgres.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { openNode } from "./postgres-node.ts";

/**
 * A node on Postgres whose statement was executed but whose response was lost, or that meets a locked row. Nothing here polls:
 * a due task is only claimed after a notification.
 */

const LEASE_MS = 3_600_000;

let postgres: TestPostgres;
let proxy: LossyPostgres;
let url: string;
let on: StoreHarness;
let store: PostgresStore;
let side: Client;
/** Notified when a task may be due. */
let dueLatch: Latch;
let pushesDue: number;

beforeAll(async () => {
  postgres = await startPostgres();
  proxy = await openLossyPostgres(postgres.url);
}, 60_000);
afterAll(async () => {
  await proxy.close();
  await postgres.stop();
});
beforeEach(async () => {
  url = await postgres.createDatabase();
  on = new StoreHarness({ open: () => store, isPersistent: true, isShared: true, remove() {} });
  side = new Client({ connectionString: url });
  await side.connect();
  dueLatch = new Latch();
  pushesDue = 0;
});
afterEach(async () => {
  await looking?.end();
  looking = undefined;
  await store.close();
  await side.end();
});

async function open(more: Partial<StoreParts> = {}): Promise<void> {
  store = await openNode(() => on, {
    leaseMs: LEASE_MS,
    pushLeaseMs: LEASE_MS,
    onDue: () => dueLatch.wake(),
    onPushDue: () => void pushesDue++,
    ...more,
    url: proxy.urlOf(url),
    node: "node",
  });
  on.store = store;
}

/** Like the runner: claims, and waits for a notification if nothing is due. */
class Looking {
  readonly runs: Run[] = [];
  #waits = false;
  #ended = false;
  readonly #loop = this.#look();

  async #look(): Promise<void> {
    while (!this.#ended) {
      const runs = await store.runs.claim("worker", AGENTS, 64).catch(() => []);
      this.runs.push(...runs);
      if (runs.length > 0) continue;
      this.#waits = true;
      await dueLatch.wait();
      this.#waits = false;
    }
  }

  async run(taskId: TaskId): Promise<Run> {
    const find = (): Run | undefined => this.runs.findLast(run => run.task.id === taskId);
    await expect.poll(find, { timeout: 20_000 }).toBeDefined();
    return find() as Run;
  }

  /** Resolves when a claim has found nothing or has failed, and only a notification leads to another. */
  async idle(): Promise<void> {
    await expect.poll(() => this.#waits, { timeout: 20_000 }).toBe(true);
  }

  async end(): Promise<void> {
    this.#ended = true;
    dueLatch.wake();
    await this.#loop;
  }
}
let looking: Looking | undefined;
const look = (): Looking => (looking = new Looking());

/** By another node: this one has to read the task. */
async function createElsewhere(): Promise<TaskId> {
  const other = await openNode(() => on, { url, node: "other" });
  on.store = other;
  const id = await on.createTask();
  on.store = store;
  await other.close();
  return id;
}

const startsOf = async (taskId: TaskId): Promise<number> =>
  (
    await side.query(
      "SELECT 1 FROM segment s JOIN task t ON t.key = s.task WHERE t.id = $1 AND s.events LIKE '%\"started\"%'",
      [taskId],
    )
  ).rows.length;

/** The name of each statement, or a part of its text. */
const INSERT = "insert_tasks";
const UPDATE = "update_tasks";
const CLAIM = "attempt = t.attempt + 1";
const READ = "read_updates";

describe("the response to a commit is lost", () => {
  it("later appends of the run are rejected, and the task is run again after the recorded events", async () => {
    await open();
    const id = await on.createTask();
    const run = await on.claimRun();
    const append = (event: TaskEvent): Promise<void> => store.log.append(alice, id, [event], { run });
    await append(chunk("a"));
    const lost = proxy.loseResponseTo(UPDATE);
    const second = append(chunk("b"));
    second.catch(() => {});
    // Before the commit begins, the next append would be part of it.
    await new Promise(resolve => void setImmediate(resolve));
    await new Promise(resolve => void setImmediate(resolve));
    const rest = [append(chunk("c")), append(status("completed"))];
    await lost;
    expect(await Promise.all([second, ...rest].map(faultCode))).toEqual([
      "unavailable",
      ...["conflict", "conflict"],
    ]);
    const next = await look().run(id);
    expect(next).toMatchObject({ attempt: 2, afterCrash: true });
    expect(next.task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "ab" }]);
  });

  it("a task that the commit ended is not run again", async () => {
    await open();
    const id = await on.createTask();
    const run = await on.claimRun();
    const lost = proxy.loseResponseTo(UPDATE);
    const end = faultCode(on.complete(run));
    await lost;
    expect(await end).toBe("unavailable");
    const there = look();
    await there.idle();
    expect((await store.tasks.get(alice, id))?.task.status.state).toBe("completed");
    expect(there.runs).toEqual([]);
  });

  it("a task that the commit created is claimed, and so are its deliveries", async () => {
    await open();
    const there = look();
    await there.run(await on.createTask());
    await there.idle();
    const id = on.newId() as TaskId;
    const lost = proxy.loseResponseTo(INSERT);
    const made = faultCode(on.append(id));
    await lost;
    expect(await made).toBe("unavailable");
    expect(await there.run(id)).toMatchObject({ attempt: 1 });
    expect(pushesDue).toBeGreaterThan(0);
  });

  it("while a second commit is under way: both are refused, and what either of them recorded is run", async () => {
    await open();
    const there = look();
    await there.run(await on.createTask());
    await there.idle();
    const lost = proxy.loseResponseTo(INSERT);
    const ids = Array.from({ length: 7 }, () => on.newId() as TaskId);
    const [first, ...second] = ids as [TaskId, ...TaskId[]];
    const appends = [faultCode(on.append(first))];
    // The others are not part of the first commit.
    await new Promise(resolve => void setImmediate(resolve));
    appends.push(...second.map(id => faultCode(on.append(id))));
    await lost;
    expect(new Set(await Promise.all(appends))).toEqual(new Set(["unavailable"]));
    expect(await there.run(first)).toMatchObject({ attempt: 1 });
    const { rows } = await side.query("SELECT id FROM task WHERE id = ANY($1::uuid[])", [second]);
    for (const { id } of rows) expect(await there.run(id)).toMatchObject({ attempt: 1 });
  });

  it("the next turn of a context is claimed after the commit ended the previous one", async () => {
    await open();
    const there = look();
    const contextId = on.newId() as ContextId;
    const run = await there.run(await on.createTask({ contextId }));
    const next = await on.createTask({ contextId });
    await there.idle();
    const lost = proxy.loseResponseTo(UPDATE);
    const end = faultCode(on.complete(run));
    await lost;
    expect(await end).toBe("unavailable");
    expect(await there.run(next)).toMatchObject({ attempt: 1 });
  });
});

describe("a claim was committed", () => {
  for (const [what, words] of [
    ["its response is lost", [CLAIM, "COMMIT"]],
    ["its tasks cannot be read", [READ]],
  ] as const)
    it(`and ${what}: the same claim returns the runs, without counting a crash`, async () => {
      await open();
      const id = await createElsewhere();
      const lost = proxy.loseResponseTo(...words);
      const there = look();
      await lost;
      const run = await there.run(id);
      expect(run).toMatchObject({ attempt: 1, afterCrash: false, task: { crashes: 0 } });
      expect(await startsOf(id)).toBe(1);
      expect(await faultCode(on.complete(run))).toBe("accepted");
      expect(there.runs).toHaveLength(1);
    });

  it("a claim that was not executed is repeated", async () => {
    await open();
    const id = await on.createTask();
    // Only notifications from here on count.
    dueLatch = new Latch();
    // The connection ends before the commit.
    const lost = proxy.loseResponseTo(CLAIM);
    const there = look();
    await lost;
    expect(await there.run(id)).toMatchObject({ attempt: 1, afterCrash: false });
    expect(await startsOf(id)).toBe(1);
  });
});

describe("a due task is locked for longer than a claim takes", () => {
  const locks: Record<string, (id: TaskId) => Promise<unknown>> = {
    row: id => side.query("SELECT 1 FROM task WHERE id = $1 FOR UPDATE", [id]),
    async line(id) {
      const { rows } = await side.query("SELECT owner, context_id FROM task WHERE id = $1", [id]);
      const [one] = rows as [{ owner: number; context_id: string }];
      await side.query("SELECT pg_advisory_xact_lock($1, $2)", [...contextLock(one.owner, one.context_id)]);
    },
  };
  for (const [what, lock] of Object.entries(locks))
    it(`it is claimed when its ${what} is unlocked, although no notification follows`, async () => {
      await open();
      const id = await on.createTask();
      await side.query("BEGIN");
      await lock(id);
      const there = look();
      await there.idle();
      // Another task does not wait.
      const other = await on.createTask();
      await there.run(other);
      await there.idle();
      await side.query("ROLLBACK");
      expect(await there.run(id)).toMatchObject({ attempt: 1 });
    });
});

describe("many callers have reached their quota", () => {
  /** Callers with a run and a waiting task each, and then one caller with a waiting task only. */
  async function crowd(callers: number): Promise<void> {
    await side.query(
      "INSERT INTO owner (tenant, principal, agent) SELECT 'acme', 'caller ' || i, 'echo' FROM generate_series(1, $1::int) i",
      [callers + 1],
    );
    await side.query(
      `INSERT INTO task (id, owner, context, context_id, alone, state, seq, attempt, rev, xid, status_at, hidden, arrived,
         worker, lease_until)
       SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(10 * id + n), 12, '0'))::uuid, id, n, 'c' || n, false,
         CASE WHEN n = 0 THEN 1 ELSE 0 END, 2, 0, nextval('revision'), pg_current_xact_id(), 1, false,
         nextval('revision'), CASE WHEN n = 0 THEN 'other' END, CASE WHEN n = 0 THEN $2::bigint END
       FROM owner CROSS JOIN generate_series(0, 2) n WHERE id <= $1::int OR n = 1 ORDER BY id, n`,
      [callers, on.now + LEASE_MS],
    );
    await side.query(
      `INSERT INTO segment (task, last, rev, xid, events) SELECT key, 2, rev, xid,
         '[[1,{"type":"created","id":"' || id || '","contextId":"c","agent":"echo","origin":"v1","shown":true}],' ||
         '[1,{"type":"message","message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}]]' FROM task`,
    );
  }
  for (const callers of [450, 1_200])
    it(`behind ${callers} of them a caller below its quota is found by the first claim`, async () => {
      await open({ runQuota: () => ({ caller: 1, tenant: Infinity }) });
      await crowd(callers);
      const runs = await store.runs.claim("worker", AGENTS, 64);
      expect(runs.map(run => run.scope.principal)).toEqual([`caller ${callers + 1}`]);
      expect(await store.runs.claim("worker", AGENTS, 64)).toEqual([]);
    });
});
