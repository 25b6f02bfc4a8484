import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { toScope } from "../../src/auth/scope.ts";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  createMint,
  Fault,
  type Scope,
  type Seq,
  type Step,
  type TaskEvent,
  type TaskId,
} from "../../src/model/index.ts";
import type { Run, Store } from "../../src/ports.ts";
import type { HotParts } from "../../src/store/hot/store.ts";

export interface StoreUnderTest {
  /** Opens a store; a second opening after a close finds what the first one committed, if `lasting`. */
  open(parts: Omit<HotParts, "journal">): Store;
  readonly lasting: boolean;
  remove(): void;
}

const ECHO = "echo" as AgentName;
const AGENTS = new Set([ECHO]);
const alice = toScope("acme", "alice");
const bob = toScope("acme", "bob");

/** The fault that the work ends in. */
async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "accepted";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

/** What every store must do, whatever it is made of. */
export function storeContract(name: string, create: () => StoreUnderTest): void {
  describe(`the ${name} store`, () => {
    let under: StoreUnderTest;
    let store: Store;
    let now = Date.UTC(2026, 0, 1);
    const committed: TaskId[] = [];
    const mint = createMint({ now: () => now, randomHex: n => randomBytes(n).toString("hex") });

    function start(more: Partial<HotParts> = {}): Store {
      under ??= create();
      store = under.open({
        now: () => now,
        leaseMs: 1_000,
        hotEventsMax: 1_024,
        hotTasksMax: 100,
        hotBytesMax: 1_000_000,
        onCommitted: id => void committed.push(id),
        onDue: () => {},
        onDamaged: (_taskId, error) => {
          throw error;
        },
        ...more,
      });
      return store;
    }

    afterEach(async () => {
      await store.close();
      under.remove();
      under = undefined as unknown as StoreUnderTest;
      committed.length = 0;
    });

    const said = (text: string): TaskEvent => ({
      type: "message",
      message: { messageId: text, role: "user", parts: [{ kind: "text", text }] },
    });
    const chunk = (text: string): TaskEvent => ({
      type: "artifact",
      artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
      append: true,
      last: false,
      join: true,
    });
    const status = (state: "completed" | "input-required" | "working"): TaskEvent => ({
      type: "status",
      state,
    });

    async function createTask(scope: Scope = alice, contextId = mint() as ContextId): Promise<TaskId> {
      const id = mint() as TaskId;
      const created: TaskEvent = { type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true };
      await store.log.append(scope, id, [created, said("hi")], { after: BEGINNING });
      return id;
    }

    async function begin(id?: TaskId): Promise<Run> {
      const runs = await store.runs.claim("w", AGENTS, 100);
      const run = id ? runs.find(one => one.task.id === id) : runs[0];
      return run as Run;
    }

    async function complete(run: Run): Promise<void> {
      await store.log.append(run.scope, run.task.id, [chunk("x"), status("completed")], { run });
    }

    /** Steps as plain values: those in memory fold their task when it is asked for. */
    const plain = (steps: readonly Step[]): object[] =>
      steps.map(({ seq, at, taskId, contextId, event, task }) => ({
        seq,
        at,
        taskId,
        contextId,
        event,
        task,
      }));

    it("numbers events from 1 without gaps and reads them back from any place", async () => {
      start();
      const id = await createTask();
      const run = await begin();
      for (let i = 0; i < 20; i++) await store.log.append(alice, id, [chunk(`${i},`)], { run });
      await store.log.append(alice, id, [status("completed")], { run });
      const all = await store.log.read(alice, id, BEGINNING, 1_000);
      expect(all.map(step => step.seq)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      for (let after = 0; after <= 24; after++)
        expect(plain(await store.log.read(alice, id, after as Seq, 7))).toEqual(
          plain(all.slice(after, after + 7)),
        );
    });

    it("gives with each event the task as it stood after it, from memory and from the journal alike", async () => {
      start({ hotEventsMax: 4, hotTasksMax: 1 });
      const id = await createTask();
      const run = await begin();
      for (let i = 0; i < 30; i++) await store.log.append(alice, id, [chunk(String(i % 10))], { run });
      await complete(run);
      const steps = [];
      for (let after = 0; ; ) {
        const page = await store.log.read(alice, id, after as Seq, 5);
        if (page.length === 0) break;
        steps.push(...page);
        after = page.at(-1)?.seq as number;
      }
      expect(steps).toHaveLength(35);
      expect(steps[2]?.task.status.state).toBe("working");
      const texts = steps.flatMap(step =>
        step.event?.type === "artifact" ? [step.task.artifacts[0]?.parts[0]] : [],
      );
      expect(texts.at(9)).toEqual({ kind: "text", text: "0123456789" });
      expect(steps.at(-1)?.task.status.state).toBe("completed");
      expect(await store.tasks.get(alice, id)).toEqual({ task: steps.at(-1)?.task, seq: 35 });
    });

    it("shows nothing before it is committed, and tells of each commit after it", async () => {
      start();
      const id = mint() as TaskId;
      const contextId = "c" as ContextId;
      const created: TaskEvent = { type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true };
      const done = store.log.append(alice, id, [created, said("hi")], { after: BEGINNING });
      expect(await store.tasks.get(alice, id)).toBeNull();
      expect(await refusal(store.log.read(alice, id, BEGINNING, 10))).toBe("task-not-found");
      expect(committed).toEqual([]);
      await done;
      expect(committed).toEqual([id]);
      expect((await store.tasks.get(alice, id))?.seq).toBe(2);
    });

    it("commits all appends of one turn of the event loop together", async () => {
      start();
      const ids = [mint(), mint(), mint()] as TaskId[];
      const contextId = "c" as ContextId;
      await Promise.all(
        ids.map(id =>
          store.log.append(
            alice,
            id,
            [{ type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true }],
            {
              after: BEGINNING,
            },
          ),
        ),
      );
      expect(committed).toEqual(ids);
    });

    it("refuses an append after another place than the end", async () => {
      start();
      const id = await createTask();
      expect(await refusal(store.log.append(alice, id, [{ type: "cancel" }], { after: 1 as Seq }))).toBe(
        "conflict",
      );
      expect(await refusal(store.log.append(alice, id, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
        "accepted",
      );
    });

    it("refuses what the lifecycle refuses, all of it or nothing", async () => {
      start();
      const id = await createTask();
      const run = await begin();
      const over = [chunk("x"), status("completed"), chunk("y")];
      expect(await refusal(store.log.append(alice, id, over, { run }))).toBe("conflict");
      expect((await store.tasks.get(alice, id))?.task.artifacts).toEqual([]);
      expect(await refusal(complete(run))).toBe("accepted");
      expect(await refusal(store.log.append(alice, id, [chunk("z")], { run }))).toBe("conflict");
    });

    it("a foreign task and an absent one are the same", async () => {
      start();
      const id = await createTask(alice);
      const nowhere = mint() as TaskId;
      for (const one of [id, nowhere, "no-such-id" as TaskId]) {
        expect(await store.tasks.get(bob, one)).toBeNull();
        expect(await refusal(store.log.read(bob, one, BEGINNING, 9))).toBe("task-not-found");
        expect(await refusal(store.log.append(bob, one, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
          "task-not-found",
        );
      }
      expect((await store.tasks.list(bob, ECHO, { pageSize: 10 })).totalSize).toBe(0);
    });

    it("hands out each due task once, in order of arrival, for the agents that are asked for", async () => {
      start();
      const ids = [await createTask(), await createTask(), await createTask()];
      expect(await store.runs.claim("w", new Set(["other" as AgentName]), 10)).toEqual([]);
      const first = await store.runs.claim("w", AGENTS, 2);
      const rest = await store.runs.claim("w", AGENTS, 2);
      expect([...first, ...rest].map(run => run.task.id)).toEqual(ids);
      expect(first[0]?.task.status.state).toBe("working");
      expect(await store.runs.claim("w", AGENTS, 2)).toEqual([]);
    });

    it("turns in one context go one after another", async () => {
      start();
      const context = mint() as ContextId;
      const [one, two] = [await createTask(alice, context), await createTask(alice, context)];
      const other = await createTask(alice);
      const runs = await store.runs.claim("w", AGENTS, 10);
      expect(runs.map(run => run.task.id)).toEqual([one, other]);
      await complete(runs[0] as Run);
      expect((await begin())?.task.id).toBe(two);
    });

    it("a lease that is renewed holds; one that is not is lost, and its run is fenced off", async () => {
      start();
      const id = await createTask();
      const run = await begin();
      now += 900;
      expect(await store.runs.renew(run)).toBe(true);
      now += 900;
      expect(await store.runs.claim("v", AGENTS, 10)).toEqual([]);
      now += 200;
      const [taken] = await store.runs.claim("v", AGENTS, 10);
      expect(taken).toMatchObject({ attempt: 2, worker: "v", task: { id, crashes: 1 } });
      expect(await store.runs.renew(run)).toBe(false);
      expect(await refusal(store.log.append(alice, id, [chunk("old")], { run }))).toBe("conflict");
      expect(await refusal(store.log.append(alice, id, [chunk("new")], { run: taken as Run }))).toBe(
        "accepted",
      );
    });

    it("a run that is given back is due again at once, and that is no crash", async () => {
      start();
      const id = await createTask();
      const run = await begin();
      await store.runs.release(run);
      expect((await store.tasks.get(alice, id))?.task.status.state).toBe("submitted");
      expect(await refusal(store.log.append(alice, id, [chunk("old")], { run }))).toBe("conflict");
      expect(await begin()).toMatchObject({ attempt: 2, task: { id, crashes: 0 } });
    });

    it("an interrupted task is due when it gets a message", async () => {
      start();
      const id = await createTask();
      const run = await begin();
      await store.log.append(alice, id, [status("input-required")], { run });
      expect(await store.runs.claim("w", AGENTS, 10)).toEqual([]);
      await store.log.append(alice, id, [said("more")], { after: 4 as Seq });
      expect(await begin()).toMatchObject({ task: { id, turn: 2 } });
      expect(await store.runs.unfinished()).toEqual(new Map([[ECHO, 1]]));
    });

    it("lists the newest status first, filtered, with a total", async () => {
      start();
      const context = mint() as ContextId;
      const ids: TaskId[] = [];
      for (let i = 0; i < 5; i++) {
        now += 10;
        ids.push(await createTask(alice, i < 3 ? context : (mint() as ContextId)));
      }
      const runs = await store.runs.claim("w", AGENTS, 10);
      now += 10;
      const since = now;
      await complete(runs.find(run => run.task.id === ids[0]) as Run);
      const list = async (filter: object): Promise<{ ids: TaskId[]; total: number }> => {
        const page = await store.tasks.list(alice, ECHO, { pageSize: 10, ...filter });
        return { ids: page.tasks.map(task => task.id), total: page.totalSize };
      };
      expect((await list({})).ids[0]).toBe(ids[0]);
      expect((await list({})).total).toBe(5);
      expect((await list({ contextId: context })).total).toBe(3);
      expect(await list({ state: "completed" })).toEqual({ ids: [ids[0]], total: 1 });
      expect(await list({ statusSince: since })).toEqual({ ids: [ids[0]], total: 1 });
      expect((await list({ statusSince: since + 1 })).total).toBe(0);
      expect((await list({ contextId: "nope" })).total).toBe(0);
      expect((await store.tasks.list(alice, "other" as AgentName, { pageSize: 10 })).totalSize).toBe(0);
    });

    it("pages neither lose nor repeat a task while tasks change between them", async () => {
      start({ hotTasksMax: 2 });
      const ids = new Set<TaskId>();
      for (let i = 0; i < 12; i++) ids.add(await createTask());
      const runs = [...(await store.runs.claim("w", AGENTS, 20))];
      const seen: TaskId[] = [];
      let pageToken = "";
      do {
        const page = await store.tasks.list(alice, ECHO, { pageSize: 3, ...(pageToken && { pageToken }) });
        seen.push(...page.tasks.map(task => task.id));
        pageToken = page.nextPageToken;
        // The oldest and the newest both move to the front, and a new one arrives.
        await complete(runs.shift() as Run);
        await complete(runs.pop() as Run);
        await createTask();
      } while (pageToken);
      expect(seen).toHaveLength(12);
      expect(new Set(seen)).toEqual(ids);
    });

    it("refuses a page token that it did not make", async () => {
      start();
      for (const pageToken of ["x", "1.2", "bm9wZQ", "MS4yLjM"])
        expect(await refusal(store.tasks.list(alice, ECHO, { pageSize: 3, pageToken }))).toBe(
          "invalid-params",
        );
    });

    it("replies are kept but not listed", async () => {
      start();
      const id = mint() as TaskId;
      const events: TaskEvent[] = [
        { type: "created", id, contextId: "c" as ContextId, agent: ECHO, origin: "v1", shown: false },
        said("hi"),
      ];
      await store.log.append(alice, id, events, { after: BEGINNING });
      const run = await begin();
      const message = { messageId: "r", role: "agent", parts: [{ kind: "text", text: "yes" }] } as const;
      await store.log.append(alice, id, [{ type: "reply", message }], { run });
      expect((await store.tasks.list(alice, ECHO, { pageSize: 9 })).totalSize).toBe(0);
      expect((await store.tasks.get(alice, id))?.task.reply?.messageId).toBe("r");
    });

    it("takes no more after it is closed", async () => {
      start();
      const id = await createTask();
      await store.close();
      expect(await refusal(store.log.append(alice, id, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
        "unavailable",
      );
    });

    it("finds everything again after it was closed and opened", async context => {
      start();
      if (!under.lasting) return context.skip("this store keeps nothing, by design");
      const done = await createTask();
      await complete(await begin());
      const asked = await createTask();
      const run = await begin();
      // Long enough for a snapshot, and then some more.
      for (let i = 0; i < 12; i++)
        await store.log.append(
          alice,
          asked,
          Array.from({ length: 100 }, () => chunk("x")),
          { run },
        );
      await store.log.append(alice, asked, [status("working"), chunk("y")], { run });
      await store.log.append(alice, asked, [status("input-required")], { run });
      const working = await createTask();
      await store.log.append(alice, working, [chunk("y")], { run: await begin() });
      const before = await Promise.all([done, asked, working].map(id => store.tasks.get(alice, id)));
      const log = plain(await store.log.read(alice, asked, BEGINNING, 2_000));
      await store.close();
      start();
      expect(await Promise.all([done, asked, working].map(id => store.tasks.get(alice, id)))).toEqual(before);
      expect(plain(await store.log.read(alice, asked, BEGINNING, 2_000))).toEqual(log);
      expect(plain(await store.log.read(alice, asked, 500 as Seq, 10))).toEqual(log.slice(500, 510));
      expect((await store.tasks.list(alice, ECHO, { pageSize: 9 })).totalSize).toBe(3);
      expect(store.lastAt).toBeGreaterThan(0);
      expect(await begin()).toMatchObject({ task: { id: working }, attempt: 2 });
      const page = await store.tasks.list(alice, ECHO, { pageSize: 1 });
      expect(page.tasks[0]?.id).toBe(working);
    });
  });
}
