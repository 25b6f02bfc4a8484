import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Latch } from "../../src/lib/latch.ts";
import type { ContextId, TaskEvent, TaskId } from "../../src/model/index.ts";
import type { Run } from "../../src/ports/index.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { lineLock } from "../../src/store/postgres/runs.ts";
import type { HotParts } from "../../src/store/single-node/store.ts";
import { type LossyPostgres, openLossyPostgres } from "../support/lossy-postgres.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { openNode } from "./postgres-node.ts";
import { AGENTS, alice, chunk, refusal, Stage, status } from "./stage.ts";

/**
 * What a node on Postgres does when a statement was done and its answer never came, or when a row is locked. Nothing here
 * looks now and then: a due task that is not looked at because of an event is not looked at.
 */

const LEASE_MS = 3_600_000;

let postgres: TestPostgres;
let way: LossyPostgres;
let url: string;
let on: Stage;
let store: PostgresStore;
let side: Client;
/** Rung when a task may be due. */
let bell: Latch;
let pushesDue: number;

beforeAll(async () => {
  postgres = await startPostgres();
  way = await openLossyPostgres(postgres.url);
}, 60_000);
afterAll(async () => {
  await way.close();
  await postgres.stop();
});
beforeEach(async () => {
  url = await postgres.createDatabase();
  on = new Stage({ open: () => store, lasting: true, shared: true, remove() {} });
  side = new Client({ connectionString: url });
  await side.connect();
  bell = new Latch();
  pushesDue = 0;
});
afterEach(async () => {
  await looking?.end();
  looking = undefined;
  await store.close();
  await side.end();
});

async function open(more: Partial<HotParts> = {}): Promise<void> {
  store = await openNode(() => on, {
    leaseMs: LEASE_MS,
    pushLeaseMs: LEASE_MS,
    onDue: () => bell.wake(),
    onPushDue: () => void pushesDue++,
    ...more,
    url: way.through(url),
    node: "node",
  });
  on.store = store;
}

/** What a runner does: it claims, and when there is nothing, it waits until there may be something. */
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
      await bell.wait();
      this.#waits = false;
    }
  }

  async run(taskId: TaskId): Promise<Run> {
    const find = (): Run | undefined => this.runs.findLast(run => run.task.id === taskId);
    await expect.poll(find, { timeout: 20_000 }).toBeDefined();
    return find() as Run;
  }

  /** Resolves when a look has found nothing, or has failed, and only a notification leads to another. */
  async idle(): Promise<void> {
    await expect.poll(() => this.#waits, { timeout: 20_000 }).toBe(true);
  }

  async end(): Promise<void> {
    this.#ended = true;
    bell.wake();
    await this.#loop;
  }
}
let looking: Looking | undefined;
const look = (): Looking => (looking = new Looking());

const startsOf = async (taskId: TaskId): Promise<number> =>
  (
    await side.query(
      "SELECT 1 FROM segment s JOIN task t ON t.key = s.task WHERE t.id = $1 AND s.events LIKE '%\"started\"%'",
      [taskId],
    )
  ).rows.length;

/** A word of each statement. */
const INSERT = "INSERT INTO task";
const UPDATE = "snapshot_seq = CASE";
const CLAIM = "attempt = t.attempt + 1";
const READ = "LEFT JOIN segment";

describe("the answer to a commit is lost", () => {
  it("the run's later words are refused, and it is begun again with what was recorded", async () => {
    await open();
    const id = await on.createTask();
    const run = await on.begin();
    const append = (event: TaskEvent): Promise<void> => store.log.append(alice, id, [event], { run });
    await append(chunk("a"));
    const lost = way.loseAnswerTo(UPDATE);
    const second = append(chunk("b"));
    second.catch(() => {});
    // Until the commit has begun, what is said next would be part of it.
    await new Promise(resolve => void setImmediate(resolve));
    await new Promise(resolve => void setImmediate(resolve));
    const rest = [append(chunk("c")), append(status("completed"))];
    await lost;
    expect(await Promise.all([second, ...rest].map(refusal))).toEqual([
      "unavailable",
      ...["conflict", "conflict"],
    ]);
    const next = await look().run(id);
    expect(next).toMatchObject({ attempt: 2, afterCrash: true });
    expect(next.task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "ab" }]);
  });

  it("a task that has ended by it is not run again", async () => {
    await open();
    const id = await on.createTask();
    const run = await on.begin();
    const lost = way.loseAnswerTo(UPDATE);
    const end = refusal(on.complete(run));
    await lost;
    expect(await end).toBe("unavailable");
    const there = look();
    await there.idle();
    expect((await store.tasks.get(alice, id))?.task.status.state).toBe("completed");
    expect(there.runs).toEqual([]);
  });

  it("a task that is new by it is looked at, and so are deliveries", async () => {
    await open();
    const there = look();
    await there.run(await on.createTask());
    await there.idle();
    const id = on.mint() as TaskId;
    const lost = way.loseAnswerTo(INSERT);
    const made = refusal(on.append(id));
    await lost;
    expect(await made).toBe("unavailable");
    expect(await there.run(id)).toMatchObject({ attempt: 1 });
    expect(pushesDue).toBeGreaterThan(0);
  });

  it("the next turn of a context is looked at when the one before it has ended by it", async () => {
    await open();
    const there = look();
    const contextId = on.mint() as ContextId;
    const run = await there.run(await on.createTask({ contextId }));
    const next = await on.createTask({ contextId });
    await there.idle();
    const lost = way.loseAnswerTo(UPDATE);
    const end = refusal(on.complete(run));
    await lost;
    expect(await end).toBe("unavailable");
    expect(await there.run(next)).toMatchObject({ attempt: 1 });
  });
});

describe("a claim was committed", () => {
  for (const [what, words] of [
    ["its answer is lost", [CLAIM, "COMMIT"]],
    ["its tasks cannot be read", [READ]],
  ] as const)
    it(`and ${what}: the runs are begun by the same claim, which is no crash`, async () => {
      await open();
      const id = await on.createTask();
      const lost = way.loseAnswerTo(...words);
      const there = look();
      await lost;
      const run = await there.run(id);
      expect(run).toMatchObject({ attempt: 1, afterCrash: false, task: { crashes: 0 } });
      expect(await startsOf(id)).toBe(1);
      expect(await refusal(on.complete(run))).toBe("accepted");
      expect(there.runs).toHaveLength(1);
    });

  it("a claim that did not happen is made again", async () => {
    await open();
    const id = await on.createTask();
    // Only what is notified from here on counts.
    bell = new Latch();
    // The connection ends before the commit.
    const lost = way.loseAnswerTo(CLAIM);
    const there = look();
    await lost;
    expect(await there.run(id)).toMatchObject({ attempt: 1, afterCrash: false });
    expect(await startsOf(id)).toBe(1);
  });
});

describe("a due task is locked for longer than a look lasts", () => {
  const locks: Record<string, (id: TaskId) => Promise<unknown>> = {
    row: id => side.query("SELECT 1 FROM task WHERE id = $1 FOR UPDATE", [id]),
    async line(id) {
      const { rows } = await side.query("SELECT owner, context_id FROM task WHERE id = $1", [id]);
      const [one] = rows as [{ owner: number; context_id: string }];
      await side.query("SELECT pg_advisory_xact_lock($1, $2)", [...lineLock(one.owner, one.context_id)]);
    },
  };
  for (const [what, lock] of Object.entries(locks))
    it(`it is taken when its ${what} is free, although no notification follows`, async () => {
      await open();
      const id = await on.createTask();
      await side.query("BEGIN");
      await lock(id);
      const there = look();
      await there.idle();
      // Another task is not kept waiting.
      const other = await on.createTask();
      await there.run(other);
      await there.idle();
      await side.query("ROLLBACK");
      expect(await there.run(id)).toMatchObject({ attempt: 1 });
    });
});

describe("many callers have reached their quota", () => {
  /** So many callers, each with a run and a task that waits for another; then one with a task that waits. */
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
    it(`behind ${callers} of them a caller who has not is found at the first look`, async () => {
      await open({ runQuota: () => ({ caller: 1, tenant: Infinity }) });
      await crowd(callers);
      const runs = await store.runs.claim("worker", AGENTS, 64);
      expect(runs.map(run => run.scope.principal)).toEqual([`caller ${callers + 1}`]);
      expect(await store.runs.claim("worker", AGENTS, 64)).toEqual([]);
    });
});
