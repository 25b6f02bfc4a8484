import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  type TaskEvent,
  type TaskId,
} from "../../src/model/index.ts";
import type { AppendCondition, AppendExtras, Run } from "../../src/ports/index.ts";
import type { StoreParts } from "../../src/store/kernel/store-parts.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import {
  AGENTS,
  alice,
  bob,
  chunk,
  ECHO,
  faultCode,
  StoreHarness,
  status,
  userMessage,
} from "../../src/testing/contracts/store-harness.ts";
import { TableLock } from "../support/database-lock.ts";
import { type LossyPostgres, openLossyPostgres } from "../support/lossy-postgres.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { openNode } from "./postgres-node.ts";

/** Runs that begin before the first commit of their task, on Postgres. Nothing here is a matter of time: leases are long. */

const LEASE_MS = 3_600_000;

let postgres: TestPostgres;
let proxy: LossyPostgres;
let url: string;
let on: StoreHarness;
let store: PostgresStore;
let side: Client;
let due: number;
let begun: { readonly run: Run; readonly recorded: Promise<void> }[];
let accepts: boolean;

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
  due = 0;
  begun = [];
  accepts = true;
});
afterEach(async () => {
  await store.close();
  await side.end();
});

async function open(more: Partial<StoreParts> = {}): Promise<void> {
  store = await openNode(() => on, {
    leaseMs: LEASE_MS,
    onDue: () => void due++,
    ...more,
    url: proxy.urlOf(url),
    node: "node",
  });
  on.store = store;
  store.runs.setStarter({
    worker: "w",
    accepts: () => accepts,
    running: () => begun.map(({ run }) => run.scope),
    start: (run, recorded) => void begun.push({ run, recorded }),
  });
}

interface Call {
  readonly scope?: typeof alice;
  readonly created?: object;
  readonly message?: object;
  readonly condition?: Partial<AppendCondition & { readonly after: unknown }>;
  readonly extras?: AppendExtras;
}

/** A call that names no context. Not awaited, it is part of the commit of this turn of the event loop. */
function send(call: Call = {}): { readonly id: TaskId; readonly recorded: Promise<void> } {
  const id = on.newId() as TaskId;
  const contextId = on.newId() as ContextId;
  const created = { type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true, ...call.created };
  const condition = { after: BEGINNING, opensContext: true, ...call.condition } as AppendCondition;
  const events = [created as TaskEvent, userMessage("hi", call.message)];
  const recorded = store.log.append(call.scope ?? alice, id, events, condition, call.extras);
  recorded.catch(() => {});
  return { id, recorded };
}
const runOf = (id: TaskId): Run => begun.find(({ run }) => run.task.id === id)?.run as Run;
const append = (run: Run, ...events: TaskEvent[]): Promise<void> => {
  const done = store.log.append(run.scope, run.task.id, events, { run });
  done.catch(() => {});
  return done;
};
const typesOf = async (id: TaskId): Promise<readonly unknown[]> =>
  (await on.readAll(alice, id)).map(({ event }) => (event?.type === "status" ? event.state : event?.type));
const rowOf = async (id: TaskId): Promise<Record<string, unknown> | undefined> =>
  (await side.query("SELECT worker, lease_until, attempt, state, seq FROM task WHERE id = $1", [id])).rows[0];
const segmentsOf = async (id: TaskId): Promise<number> =>
  (await side.query("SELECT 1 FROM segment s JOIN task t ON t.key = s.task WHERE t.id = $1", [id])).rows
    .length;
const claim = (): Promise<readonly Run[]> => store.runs.claim("w", AGENTS, 10);
const claimed = async (): Promise<readonly unknown[]> =>
  (await claim()).map(({ task, attempt, afterCrash }) => [task.id, attempt, afterCrash]);
/** Appends after these events belong to a later commit. */
const nextCommit = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise(resolve => void setImmediate(resolve));
};

describe("a call that names no context", () => {
  it("is recorded with its start and its first output in one row", async () => {
    await open();
    const { id, recorded } = send();
    const run = runOf(id);
    expect(run).toMatchObject({ attempt: 1, afterCrash: false, worker: "w", task: { id, attempt: 1 } });
    expect(run.task.status.state).toBe("working");
    const end = append(run, chunk("a"), status("completed"));
    await Promise.all([recorded, end]);
    expect(await typesOf(id)).toEqual(["created", "message", "started", "artifact", "completed"]);
    expect(await segmentsOf(id)).toBe(1);
    expect(await rowOf(id)).toMatchObject({ worker: null, lease_until: null, attempt: 1, seq: 5 });
    expect([await claimed(), due]).toEqual([[], 0]);
  });

  it("is leased to its node while it runs; after the lease its next attempt counts as one after a crash", async () => {
    await open();
    const { id, recorded } = send();
    await recorded;
    expect(await rowOf(id)).toMatchObject({ worker: "w", attempt: 1, state: 1, seq: 3 });
    expect(await store.runs.renew(runOf(id))).toBe(true);
    expect(await claimed()).toEqual([]);
    await append(runOf(id), chunk("a"));
    on.now += 2 * LEASE_MS;
    expect(await claimed()).toEqual([[id, 2, true]]);
    expect(await faultCode(append(runOf(id), chunk("b")))).toBe("conflict");
  });

  it("is not visible before its commit, and output during that commit follows in order", async () => {
    await open();
    const lock = await TableLock.take(url, "task");
    const { id, recorded } = send();
    const first = append(runOf(id), chunk("a"));
    await lock.waiter();
    const rest = [append(runOf(id), chunk("b")), append(runOf(id), status("completed"))];
    expect(await store.tasks.get(alice, id)).toBeNull();
    expect(await faultCode(store.log.read(alice, id, BEGINNING, 10))).toBe("task-not-found");
    await lock.end();
    await Promise.all([recorded, first, ...rest]);
    expect(await typesOf(id)).toEqual(["created", "message", "started", "artifact", "artifact", "completed"]);
    expect((await store.tasks.get(alice, id))?.task.artifacts[0]?.parts).toEqual([
      { kind: "text", text: "ab" },
    ]);
  });

  it("can be released in the commit that records it: it is due again, without a crash", async () => {
    await open();
    const { id, recorded } = send();
    await Promise.all([recorded, store.runs.release(runOf(id))]);
    expect(due).toBeGreaterThan(0);
    expect(await rowOf(id)).toMatchObject({ worker: null, attempt: 1, state: 0 });
    expect(await claimed()).toEqual([[id, 2, false]]);
  });

  it("can end with a question in the commit that records it, and the answer is claimed", async () => {
    await open();
    const { id, recorded } = send();
    await Promise.all([recorded, append(runOf(id), status("input-required"))]);
    expect(await rowOf(id)).toMatchObject({ worker: null, attempt: 1, state: 2 });
    await store.log.append(alice, id, [userMessage("more")], { state: "input-required" });
    expect(begun).toHaveLength(1);
    expect(await claimed()).toEqual([[id, 2, false]]);
  });

  it("with very much output at once has a snapshot that other nodes read", async () => {
    await open();
    const { id, recorded } = send();
    const all = Array.from({ length: 1_100 }, (_, i) => append(runOf(id), chunk(`${i} `)));
    await Promise.all([recorded, ...all, append(runOf(id), status("completed"))]);
    const fresh = await openNode(() => on, { url, node: "other" });
    const found = await fresh.tasks.get(alice, id);
    await fresh.close();
    expect(found?.task.status.state).toBe("completed");
    expect(found?.task.artifacts).toEqual((await store.tasks.get(alice, id))?.task.artifacts);
  });
});

describe("a call waits in the queue, and begins after its commit", () => {
  const push = {
    config: { id: "p", url: "https://p.example/", origin: "v1", events: "all" as const },
    key: "k",
    opening: "task" as const,
  };
  const calls: Record<string, Call> = {
    "it names a context": { condition: { opensContext: false } as never },
    "it has an Idempotency-Key": { message: { key: { name: "k", digest: "d" } } },
    "its message id counts once": { message: { once: "d" } },
    "its caller chose the id of the task": { created: { alias: "mine" } },
    "it comes with a webhook": { extras: { push } },
    "it requires a free context": { condition: { free: true } as never },
  };
  for (const [why, call] of Object.entries(calls))
    it(`if ${why}`, async () => {
      await open();
      const { id, recorded } = send(call);
      await recorded;
      expect(begun).toEqual([]);
      expect(due).toBeGreaterThan(0);
      expect(await claimed()).toEqual([[id, 1, false]]);
    });

  it("but not if tasks of its agent do not wait for each other", async () => {
    await open();
    const { id, recorded } = send({ created: { alone: true }, condition: { opensContext: false } as never });
    await recorded;
    expect(runOf(id)).toBeDefined();
  });

  it("if this process has no room", async () => {
    await open();
    accepts = false;
    const { id, recorded } = send();
    await recorded;
    expect([begun, await claimed()]).toEqual([[], [[id, 1, false]]]);
  });

  it("if its caller has a quota of runs: all nodes count together", async () => {
    await open({ runQuota: scope => ({ caller: scope === alice ? 2 : Infinity, tenant: Infinity }) });
    await send().recorded;
    await send({ scope: bob }).recorded;
    expect(begun.map(({ run }) => run.scope.principal)).toEqual(["bob"]);
  });

  it("if its tenant has its share of the runs of this process, and as long as tasks of it wait for that", async () => {
    await open({ runsShared: 4 });
    const all = Array.from({ length: 8 }, () => send().recorded);
    await Promise.all(all);
    const shared = begun.length;
    expect(shared).toBeGreaterThan(0);
    expect(shared).toBeLessThan(4);
    const running = (): readonly (typeof alice)[] => begun.map(({ run }) => run.scope);
    expect(await store.runs.claim("w", AGENTS, 4 - shared, running)).toEqual([]);
    const { run } = begun.pop() as (typeof begun)[0];
    await append(run, status("completed"));
    // There is room again, but the tasks that wait come first.
    await send().recorded;
    expect(begun).toHaveLength(shared - 1);
    expect(await store.runs.claim("w", AGENTS, 4, running)).toHaveLength(1);
  });
});

describe("the commit that records a call and its start", () => {
  const INSERT = "insert_tasks";

  it("does not happen: the run is lost, its output is refused, and nothing is recorded", async () => {
    await open();
    const lock = await TableLock.take(url, "task");
    const { id, recorded } = send();
    const run = runOf(id);
    const first = append(run, chunk("a"));
    await lock.waiter();
    const second = append(run, status("completed"));
    await lock.endWaiter();
    await lock.end();
    expect(await Promise.all([recorded, begun[0]?.recorded as Promise<void>, first].map(faultCode))).toEqual([
      "unavailable",
      "unavailable",
      "unavailable",
    ]);
    expect(await faultCode(second)).not.toBe("accepted");
    expect(await faultCode(append(run, chunk("b")))).not.toBe("accepted");
    expect([await rowOf(id), await claimed()]).toEqual([undefined, []]);
    // Until the store has recovered, no run begins before its task is recorded.
    await send().recorded;
    expect(begun).toHaveLength(1);
    on.now += 2_000;
    await send().recorded;
    expect(begun).toHaveLength(2);
  });

  it("happens, but its response is lost: the run is lost, and the task is run again at once", async () => {
    await open();
    const lost = proxy.loseResponseTo(INSERT);
    const { id, recorded } = send();
    const first = append(runOf(id), chunk("a"));
    await lost;
    expect(await Promise.all([recorded, first].map(faultCode))).toEqual(["unavailable", "unavailable"]);
    expect(await faultCode(append(runOf(id), status("completed")))).toBe("conflict");
    let runs: readonly Run[] = [];
    await expect.poll(async () => (runs = await claim()).length).toBe(1);
    expect(runs[0]).toMatchObject({ attempt: 2, afterCrash: true, task: { id } });
    expect(runs[0]?.task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "a" }]);
    expect(due).toBeGreaterThan(0);
  });

  it("happens with the end of the task, but its response is lost: the task is not run again", async () => {
    await open();
    const lost = proxy.loseResponseTo(INSERT);
    const { id, recorded } = send();
    const end = append(runOf(id), status("completed"));
    await lost;
    expect(await Promise.all([recorded, end].map(faultCode))).toEqual(["unavailable", "unavailable"]);
    await store.close();
    await open();
    expect(await claimed()).toEqual([]);
    expect((await store.tasks.get(alice, id))?.task.status.state).toBe("completed");
  });

  it("is refused for one of several calls: the others and their output are recorded, and only its run is lost", async () => {
    await open();
    await side.query(
      "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no'; END $$ LANGUAGE plpgsql;" +
        "CREATE TRIGGER refuse BEFORE INSERT ON task FOR EACH ROW WHEN (NEW.context_id = 'bad') EXECUTE FUNCTION refuse()",
    );
    const [one, bad, two] = [send(), send({ created: { contextId: "bad" } }), send()];
    const ends = [one, bad, two].map(({ id }) => append(runOf(id), chunk("a"), status("completed")));
    expect(await Promise.all([one, bad, two].map(({ recorded }) => faultCode(recorded)))).toEqual([
      "accepted",
      "unavailable",
      "accepted",
    ]);
    expect(await Promise.all(ends.map(faultCode))).toEqual(["accepted", expect.anything(), "accepted"]);
    expect(await faultCode(append(runOf(bad.id), chunk("b")))).not.toBe("accepted");
    expect(await rowOf(bad.id)).toBeUndefined();
    expect(await typesOf(two.id)).toEqual(["created", "message", "started", "artifact", "completed"]);
  });

  it("comes before another task of that context, which is claimed when the first one has ended", async () => {
    await open();
    const contextId = on.newId() as ContextId;
    const { id, recorded } = send({ created: { contextId } });
    // Only the agent itself knows the context: it calls itself, in the same commit or in the next.
    const next = on.append(on.newId() as TaskId, { contextId });
    await nextCommit();
    const last = on.append(on.newId() as TaskId, { contextId });
    await Promise.all([recorded, next, last]);
    expect(await claimed()).toEqual([]);
    due = 0;
    await append(runOf(id), status("completed"));
    await expect.poll(() => due).toBeGreaterThan(0);
    expect(await claim()).toHaveLength(1);
  });
});

it("an agent that this process does not serve is left to the others", async () => {
  await open();
  store.runs.setStarter({
    worker: "w",
    accepts: (agent: AgentName) => agent !== ECHO,
    running: () => [],
    start: (run, recorded) => void begun.push({ run, recorded }),
  });
  await send().recorded;
  expect(begun).toEqual([]);
});
