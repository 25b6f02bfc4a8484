import { setTimeout as pause } from "node:timers/promises";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  type Seq,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import {
  AGENTS,
  alice,
  bob,
  chunk,
  ECHO,
  faultCode,
  StoreHarness,
  type StoreUnderTest,
  status,
  toPlain,
  userMessage,
} from "./store-harness.ts";

/** The contract of every store. */
export function logContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("the log", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
    });
    afterEach(() => on.close());

    it("numbers events from 1 without gaps and reads them from any position", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      for (let i = 0; i < 20; i++) await on.store.log.append(alice, id, [chunk(`${i},`)], { run });
      await on.store.log.append(alice, id, [status("completed")], { run });
      const all = await on.store.log.read(alice, id, BEGINNING, 1_000);
      expect(all.map(step => step.seq)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      for (let after = 0; after <= 24; after++)
        expect(toPlain(await on.store.log.read(alice, id, after as Seq, 7))).toEqual(
          toPlain(all.slice(after, after + 7)),
        );
    });

    it("returns with each event the task after it, from memory and from the backend alike", async () => {
      on.start({ tailEventsMax: 4, tailCacheTasksMax: 1 });
      const id = await on.createTask();
      const run = await on.claimRun();
      for (let i = 0; i < 30; i++) await on.store.log.append(alice, id, [chunk(String(i % 10))], { run });
      await on.complete(run);
      const steps = [];
      for (let after = 0; ; ) {
        const page = await on.store.log.read(alice, id, after as Seq, 5);
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
      expect(await on.store.tasks.get(alice, id)).toEqual({ task: steps.at(-1)?.task, seq: 35, since: 0 });
    });

    it("an idle log is read from any position, and continues without a gap", async () => {
      on.start({ tailIdleMs: 5 });
      const id = await on.createTask();
      const run = await on.claimRun();
      for (const text of ["a", "b", "c"]) await on.store.log.append(alice, id, [chunk(text)], { run });
      const before = toPlain(await on.store.log.read(alice, id, BEGINNING, 100));
      await pause(30);
      expect(toPlain(await on.store.log.read(alice, id, BEGINNING, 100))).toEqual(before);
      expect(await on.store.log.read(alice, id, before.length as Seq, 100)).toEqual([]);
      await on.store.log.append(alice, id, [chunk("d")], { run });
      const all = await on.readAll(alice, id);
      expect(toPlain(all.slice(0, -1))).toEqual(before);
      expect(all.at(-1)).toMatchObject({ seq: before.length + 1, event: chunk("d") });
      expect(all.at(-1)?.task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "abcd" }]);
      expect((await on.store.tasks.get(alice, id))?.task).toEqual(all.at(-1)?.task);
    });

    it("shows nothing before it is committed, and notifies after each commit", async () => {
      on.start();
      const id = on.newId() as TaskId;
      const contextId = "c" as ContextId;
      const created: TaskEvent = { type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true };
      const done = on.store.log.append(alice, id, [created, userMessage("hi")], { after: BEGINNING });
      // A reader of a database may see a commit before its writer gets the response.
      if (!on.under.isShared) {
        expect(await on.store.tasks.get(alice, id)).toBeNull();
        expect(await faultCode(on.store.log.read(alice, id, BEGINNING, 10))).toBe("task-not-found");
        expect(on.committed).toEqual([]);
      }
      await done;
      expect(on.committed).toEqual([id]);
      expect((await on.store.tasks.get(alice, id))?.seq).toBe(2);
    });

    it("commits all appends of one turn of the event loop together", async () => {
      on.start();
      const ids = [on.newId(), on.newId(), on.newId()] as TaskId[];
      const contextId = "c" as ContextId;
      await Promise.all(
        ids.map(id =>
          on.store.log.append(
            alice,
            id,
            [{ type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true }],
            {
              after: BEGINNING,
            },
          ),
        ),
      );
      expect(on.committed).toEqual(ids);
    });

    it("rejects an append whose expected position is not the end", async () => {
      on.start();
      const id = await on.createTask();
      expect(await faultCode(on.store.log.append(alice, id, [{ type: "cancel" }], { after: 1 as Seq }))).toBe(
        "conflict",
      );
      expect(await faultCode(on.store.log.append(alice, id, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
        "accepted",
      );
    });

    it("rejects a whole append if the lifecycle rejects one event", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      const over = [chunk("x"), status("completed"), chunk("y")];
      expect(await faultCode(on.store.log.append(alice, id, over, { run }))).toBe("conflict");
      expect((await on.store.tasks.get(alice, id))?.task.artifacts).toEqual([]);
      const next = await on.claimRun(await on.createTask());
      expect(await faultCode(on.complete(next))).toBe("accepted");
      expect(await faultCode(on.store.log.append(alice, next.task.id, [chunk("z")], { run: next }))).toBe(
        "conflict",
      );
    });

    it("the task of another caller is reported like a missing task", async () => {
      on.start();
      const id = await on.createTask();
      const nowhere = on.newId() as TaskId;
      for (const one of [id, nowhere, "no-such-id" as TaskId]) {
        expect(await on.store.tasks.get(bob, one)).toBeNull();
        expect(await faultCode(on.store.log.read(bob, one, BEGINNING, 9))).toBe("task-not-found");
        expect(
          await faultCode(on.store.log.append(bob, one, [{ type: "cancel" }], { after: 2 as Seq })),
        ).toBe("task-not-found");
      }
      expect((await on.store.tasks.list(bob, ECHO, { pageSize: 10 })).totalSize).toBe(0);
    });

    it("claims each due task once, in order of arrival, for the requested agents", async () => {
      on.start();
      const ids = [await on.createTask(), await on.createTask(), await on.createTask()];
      expect(await on.store.runs.claim("w", new Set(["other" as AgentName]), 10)).toEqual([]);
      const first = await on.store.runs.claim("w", AGENTS, 2);
      const rest = await on.store.runs.claim("w", AGENTS, 2);
      expect([...first, ...rest].map(run => run.task.id)).toEqual(ids);
      expect(first[0]?.task.status.state).toBe("working");
      expect(await on.store.runs.claim("w", AGENTS, 2)).toEqual([]);
    });

    it("turns of one context run one after another", async () => {
      on.start();
      const context = on.newId() as ContextId;
      const [one, two] = [
        await on.createTask({ contextId: context }),
        await on.createTask({ contextId: context }),
      ];
      const other = await on.createTask();
      const runs = await on.store.runs.claim("w", AGENTS, 10);
      expect(runs.map(run => run.task.id)).toEqual([one, other]);
      await on.complete(runs[0] as Run);
      expect((await on.claimRun())?.task.id).toBe(two);
    });

    it("a renewed lease is kept; an expired lease is lost, and its run is fenced", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      on.now += 900;
      expect(await on.store.runs.renew(run)).toBe(true);
      on.now += 900;
      expect(await on.store.runs.claim("v", AGENTS, 10)).toEqual([]);
      on.now += 200;
      const [taken] = await on.store.runs.claim("v", AGENTS, 10);
      expect(taken).toMatchObject({ attempt: 2, worker: "v", task: { id, crashes: 1 } });
      expect(await on.store.runs.renew(run)).toBe(false);
      expect(await faultCode(on.store.log.append(alice, id, [chunk("old")], { run }))).toBe("conflict");
      expect(await faultCode(on.store.log.append(alice, id, [chunk("new")], { run: taken as Run }))).toBe(
        "accepted",
      );
    });

    it("a released run is due again at once, and does not count as a crash", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      await on.store.runs.release(run);
      expect((await on.store.tasks.get(alice, id))?.task.status.state).toBe("submitted");
      expect(await faultCode(on.store.log.append(alice, id, [chunk("old")], { run }))).toBe("conflict");
      expect(await on.claimRun()).toMatchObject({ attempt: 2, task: { id, crashes: 0 } });
    });

    it("an interrupted task is due when it receives a message", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      await on.store.log.append(alice, id, [status("input-required")], { run });
      expect(await on.store.runs.claim("w", AGENTS, 10)).toEqual([]);
      await on.store.log.append(alice, id, [userMessage("more")], { after: 4 as Seq });
      expect(await on.claimRun()).toMatchObject({ task: { id, turn: 2 } });
      expect(await on.store.runs.unfinished()).toEqual(new Map([[ECHO, 1]]));
    });

    it("lists the newest status first, filtered, with a total", async () => {
      on.start();
      const context = on.newId() as ContextId;
      const ids: TaskId[] = [];
      for (let i = 0; i < 5; i++) {
        on.now += 10;
        ids.push(await on.createTask(i < 3 ? { contextId: context } : {}));
      }
      const runs = await on.store.runs.claim("w", AGENTS, 10);
      on.now += 10;
      const since = on.now;
      await on.complete(runs.find(run => run.task.id === ids[0]) as Run);
      const list = async (filter: object): Promise<{ ids: TaskId[]; total: number }> => {
        const page = await on.store.tasks.list(alice, ECHO, { pageSize: 10, ...filter });
        return { ids: page.tasks.map(task => task.id), total: page.totalSize };
      };
      expect((await list({})).ids[0]).toBe(ids[0]);
      expect((await list({})).total).toBe(5);
      expect((await list({ contextId: context })).total).toBe(3);
      expect(await list({ state: "completed" })).toEqual({ ids: [ids[0]], total: 1 });
      expect(await list({ statusSince: since })).toEqual({ ids: [ids[0]], total: 1 });
      expect((await list({ statusSince: since + 1 })).total).toBe(0);
      expect((await list({ contextId: "nope" })).total).toBe(0);
      expect((await on.store.tasks.list(alice, "other" as AgentName, { pageSize: 10 })).totalSize).toBe(0);
    });

    it("pages neither omit nor repeat a task while tasks change between them", async () => {
      on.start({ tailCacheTasksMax: 2 });
      const ids = new Set<TaskId>();
      for (let i = 0; i < 12; i++) ids.add(await on.createTask());
      const runs = [...(await on.store.runs.claim("w", AGENTS, 20))];
      const seen: TaskId[] = [];
      let pageToken = "";
      do {
        const page = await on.store.tasks.list(alice, ECHO, { pageSize: 3, ...(pageToken && { pageToken }) });
        seen.push(...page.tasks.map(task => task.id));
        pageToken = page.nextPageToken;
        // The oldest and the newest task move to the front, and a new task arrives.
        await on.complete(runs.shift() as Run);
        await on.complete(runs.pop() as Run);
        await on.createTask();
      } while (pageToken);
      expect(seen).toHaveLength(12);
      expect(new Set(seen)).toEqual(ids);
    });

    it("rejects a page token that it did not create", async () => {
      on.start();
      for (const pageToken of ["x", "1.2", "bm9wZQ", "MS4yLjM"])
        expect(await faultCode(on.store.tasks.list(alice, ECHO, { pageSize: 3, pageToken }))).toBe(
          "invalid-params",
        );
    });

    it("bare replies are stored but not listed", async () => {
      on.start();
      const id = on.newId() as TaskId;
      const events: TaskEvent[] = [
        { type: "created", id, contextId: "c" as ContextId, agent: ECHO, origin: "v1", shown: false },
        userMessage("hi"),
      ];
      await on.store.log.append(alice, id, events, { after: BEGINNING });
      const run = await on.claimRun();
      const message = { messageId: "r", role: "agent", parts: [{ kind: "text", text: "yes" }] } as const;
      await on.store.log.append(alice, id, [{ type: "reply", message }], { run });
      expect((await on.store.tasks.list(alice, ECHO, { pageSize: 9 })).totalSize).toBe(0);
      expect((await on.store.tasks.get(alice, id))?.task.reply?.messageId).toBe("r");
    });

    it("rejects appends after it is closed", async () => {
      on.start();
      const id = await on.createTask();
      await on.store.close();
      expect(await faultCode(on.store.log.append(alice, id, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
        "unavailable",
      );
    });

    it("has all its data after it was closed and reopened", async context => {
      on.start();
      if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
      const done = await on.createTask();
      await on.complete(await on.claimRun());
      const asked = await on.createTask();
      const run = await on.claimRun();
      // Long enough for a snapshot, with events after it.
      for (let i = 0; i < 12; i++)
        await on.store.log.append(
          alice,
          asked,
          Array.from({ length: 100 }, () => chunk("x")),
          { run },
        );
      await on.store.log.append(alice, asked, [status("working"), chunk("y")], { run });
      await on.store.log.append(alice, asked, [status("input-required")], { run });
      const working = await on.createTask();
      await on.store.log.append(alice, working, [chunk("y")], { run: await on.claimRun() });
      const before = await Promise.all([done, asked, working].map(id => on.store.tasks.get(alice, id)));
      const log = toPlain(await on.readAll(alice, asked));
      await on.reopen();
      expect(await Promise.all([done, asked, working].map(id => on.store.tasks.get(alice, id)))).toEqual(
        before,
      );
      expect(toPlain(await on.readAll(alice, asked))).toEqual(log);
      expect(toPlain(await on.store.log.read(alice, asked, 500 as Seq, 10))).toEqual(log.slice(500, 510));
      expect((await on.store.tasks.list(alice, ECHO, { pageSize: 9 })).totalSize).toBe(3);
      expect(on.store.lastAt).toBeGreaterThan(0);
      expect(await on.claimRun()).toMatchObject({ task: { id: working }, attempt: 2 });
      const page = await on.store.tasks.list(alice, ECHO, { pageSize: 1 });
      expect(page.tasks[0]?.id).toBe(working);
    });

    it("knows the time of the newest event after it was reopened, also if the event changed no status", async context => {
      on.start();
      if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
      const run = await on.claimRun(await on.createTask());
      on.now += 60_000;
      const { now } = on;
      await on.store.log.append(alice, run.task.id, [chunk("x")], { run });
      await on.reopen();
      expect(on.store.lastAt).toBe(now);
    });
  });
}
