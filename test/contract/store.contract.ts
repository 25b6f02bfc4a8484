import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  type Seq,
  type TaskEvent,
  type TaskId,
} from "../../src/model/index.ts";
import type { Run } from "../../src/ports/index.ts";
import {
  AGENTS,
  alice,
  bob,
  chunk,
  ECHO,
  plain,
  refusal,
  Stage,
  type StoreUnderTest,
  said,
  status,
} from "./stage.ts";

/** What every store must do, whatever it is made of. */
export function storeContract(name: string, create: () => StoreUnderTest): void {
  describe(`the ${name} store`, () => {
    let on: Stage;
    beforeEach(() => {
      on = new Stage(create());
    });
    afterEach(() => on.end());

    it("numbers events from 1 without gaps and reads them back from any place", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      for (let i = 0; i < 20; i++) await on.store.log.append(alice, id, [chunk(`${i},`)], { run });
      await on.store.log.append(alice, id, [status("completed")], { run });
      const all = await on.store.log.read(alice, id, BEGINNING, 1_000);
      expect(all.map(step => step.seq)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      for (let after = 0; after <= 24; after++)
        expect(plain(await on.store.log.read(alice, id, after as Seq, 7))).toEqual(
          plain(all.slice(after, after + 7)),
        );
    });

    it("gives with each event the task as it stood after it, from memory and from the journal alike", async () => {
      on.start({ hotEventsMax: 4, hotTasksMax: 1 });
      const id = await on.createTask();
      const run = await on.begin();
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

    it("a log that has fallen silent is read from any place, and goes on without a gap", async () => {
      on.start({ hotQuietMs: 5 });
      const id = await on.createTask();
      const run = await on.begin();
      for (const text of ["a", "b", "c"]) await on.store.log.append(alice, id, [chunk(text)], { run });
      const before = plain(await on.store.log.read(alice, id, BEGINNING, 100));
      await pause(30);
      expect(plain(await on.store.log.read(alice, id, BEGINNING, 100))).toEqual(before);
      expect(await on.store.log.read(alice, id, before.length as Seq, 100)).toEqual([]);
      await on.store.log.append(alice, id, [chunk("d")], { run });
      const all = await on.readAll(alice, id);
      expect(plain(all.slice(0, -1))).toEqual(before);
      expect(all.at(-1)).toMatchObject({ seq: before.length + 1, event: chunk("d") });
      expect(all.at(-1)?.task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "abcd" }]);
      expect((await on.store.tasks.get(alice, id))?.task).toEqual(all.at(-1)?.task);
    });

    it("shows nothing before it is committed, and tells of each commit after it", async () => {
      on.start();
      const id = on.mint() as TaskId;
      const contextId = "c" as ContextId;
      const created: TaskEvent = { type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true };
      const done = on.store.log.append(alice, id, [created, said("hi")], { after: BEGINNING });
      // Whoever asks a database may see what is committed before its writer has heard of it.
      if (!on.under.shared) {
        expect(await on.store.tasks.get(alice, id)).toBeNull();
        expect(await refusal(on.store.log.read(alice, id, BEGINNING, 10))).toBe("task-not-found");
        expect(on.committed).toEqual([]);
      }
      await done;
      expect(on.committed).toEqual([id]);
      expect((await on.store.tasks.get(alice, id))?.seq).toBe(2);
    });

    it("commits all appends of one turn of the event loop together", async () => {
      on.start();
      const ids = [on.mint(), on.mint(), on.mint()] as TaskId[];
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

    it("refuses an append after another place than the end", async () => {
      on.start();
      const id = await on.createTask();
      expect(await refusal(on.store.log.append(alice, id, [{ type: "cancel" }], { after: 1 as Seq }))).toBe(
        "conflict",
      );
      expect(await refusal(on.store.log.append(alice, id, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
        "accepted",
      );
    });

    it("refuses what the lifecycle refuses, all of it or nothing", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      const over = [chunk("x"), status("completed"), chunk("y")];
      expect(await refusal(on.store.log.append(alice, id, over, { run }))).toBe("conflict");
      expect((await on.store.tasks.get(alice, id))?.task.artifacts).toEqual([]);
      const next = await on.begin(await on.createTask());
      expect(await refusal(on.complete(next))).toBe("accepted");
      expect(await refusal(on.store.log.append(alice, next.task.id, [chunk("z")], { run: next }))).toBe(
        "conflict",
      );
    });

    it("a foreign task and an absent one are the same", async () => {
      on.start();
      const id = await on.createTask();
      const nowhere = on.mint() as TaskId;
      for (const one of [id, nowhere, "no-such-id" as TaskId]) {
        expect(await on.store.tasks.get(bob, one)).toBeNull();
        expect(await refusal(on.store.log.read(bob, one, BEGINNING, 9))).toBe("task-not-found");
        expect(await refusal(on.store.log.append(bob, one, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
          "task-not-found",
        );
      }
      expect((await on.store.tasks.list(bob, ECHO, { pageSize: 10 })).totalSize).toBe(0);
    });

    it("hands out each due task once, in order of arrival, for the agents that are asked for", async () => {
      on.start();
      const ids = [await on.createTask(), await on.createTask(), await on.createTask()];
      expect(await on.store.runs.claim("w", new Set(["other" as AgentName]), 10)).toEqual([]);
      const first = await on.store.runs.claim("w", AGENTS, 2);
      const rest = await on.store.runs.claim("w", AGENTS, 2);
      expect([...first, ...rest].map(run => run.task.id)).toEqual(ids);
      expect(first[0]?.task.status.state).toBe("working");
      expect(await on.store.runs.claim("w", AGENTS, 2)).toEqual([]);
    });

    it("turns in one context go one after another", async () => {
      on.start();
      const context = on.mint() as ContextId;
      const [one, two] = [
        await on.createTask({ contextId: context }),
        await on.createTask({ contextId: context }),
      ];
      const other = await on.createTask();
      const runs = await on.store.runs.claim("w", AGENTS, 10);
      expect(runs.map(run => run.task.id)).toEqual([one, other]);
      await on.complete(runs[0] as Run);
      expect((await on.begin())?.task.id).toBe(two);
    });

    it("a lease that is renewed holds; one that is not is lost, and its run is fenced off", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      on.now += 900;
      expect(await on.store.runs.renew(run)).toBe(true);
      on.now += 900;
      expect(await on.store.runs.claim("v", AGENTS, 10)).toEqual([]);
      on.now += 200;
      const [taken] = await on.store.runs.claim("v", AGENTS, 10);
      expect(taken).toMatchObject({ attempt: 2, worker: "v", task: { id, crashes: 1 } });
      expect(await on.store.runs.renew(run)).toBe(false);
      expect(await refusal(on.store.log.append(alice, id, [chunk("old")], { run }))).toBe("conflict");
      expect(await refusal(on.store.log.append(alice, id, [chunk("new")], { run: taken as Run }))).toBe(
        "accepted",
      );
    });

    it("a run that is given back is due again at once, and that is no crash", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      await on.store.runs.release(run);
      expect((await on.store.tasks.get(alice, id))?.task.status.state).toBe("submitted");
      expect(await refusal(on.store.log.append(alice, id, [chunk("old")], { run }))).toBe("conflict");
      expect(await on.begin()).toMatchObject({ attempt: 2, task: { id, crashes: 0 } });
    });

    it("an interrupted task is due when it gets a message", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      await on.store.log.append(alice, id, [status("input-required")], { run });
      expect(await on.store.runs.claim("w", AGENTS, 10)).toEqual([]);
      await on.store.log.append(alice, id, [said("more")], { after: 4 as Seq });
      expect(await on.begin()).toMatchObject({ task: { id, turn: 2 } });
      expect(await on.store.runs.unfinished()).toEqual(new Map([[ECHO, 1]]));
    });

    it("lists the newest status first, filtered, with a total", async () => {
      on.start();
      const context = on.mint() as ContextId;
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

    it("pages neither lose nor repeat a task while tasks change between them", async () => {
      on.start({ hotTasksMax: 2 });
      const ids = new Set<TaskId>();
      for (let i = 0; i < 12; i++) ids.add(await on.createTask());
      const runs = [...(await on.store.runs.claim("w", AGENTS, 20))];
      const seen: TaskId[] = [];
      let pageToken = "";
      do {
        const page = await on.store.tasks.list(alice, ECHO, { pageSize: 3, ...(pageToken && { pageToken }) });
        seen.push(...page.tasks.map(task => task.id));
        pageToken = page.nextPageToken;
        // The oldest and the newest both move to the front, and a new one arrives.
        await on.complete(runs.shift() as Run);
        await on.complete(runs.pop() as Run);
        await on.createTask();
      } while (pageToken);
      expect(seen).toHaveLength(12);
      expect(new Set(seen)).toEqual(ids);
    });

    it("refuses a page token that it did not make", async () => {
      on.start();
      for (const pageToken of ["x", "1.2", "bm9wZQ", "MS4yLjM"])
        expect(await refusal(on.store.tasks.list(alice, ECHO, { pageSize: 3, pageToken }))).toBe(
          "invalid-params",
        );
    });

    it("replies are kept but not listed", async () => {
      on.start();
      const id = on.mint() as TaskId;
      const events: TaskEvent[] = [
        { type: "created", id, contextId: "c" as ContextId, agent: ECHO, origin: "v1", shown: false },
        said("hi"),
      ];
      await on.store.log.append(alice, id, events, { after: BEGINNING });
      const run = await on.begin();
      const message = { messageId: "r", role: "agent", parts: [{ kind: "text", text: "yes" }] } as const;
      await on.store.log.append(alice, id, [{ type: "reply", message }], { run });
      expect((await on.store.tasks.list(alice, ECHO, { pageSize: 9 })).totalSize).toBe(0);
      expect((await on.store.tasks.get(alice, id))?.task.reply?.messageId).toBe("r");
    });

    it("takes no more after it is closed", async () => {
      on.start();
      const id = await on.createTask();
      await on.store.close();
      expect(await refusal(on.store.log.append(alice, id, [{ type: "cancel" }], { after: 2 as Seq }))).toBe(
        "unavailable",
      );
    });

    it("finds everything again after it was closed and opened", async context => {
      on.start();
      if (!on.under.lasting) return context.skip("this store keeps nothing, by design");
      const done = await on.createTask();
      await on.complete(await on.begin());
      const asked = await on.createTask();
      const run = await on.begin();
      // Long enough for a snapshot, and then some more.
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
      await on.store.log.append(alice, working, [chunk("y")], { run: await on.begin() });
      const before = await Promise.all([done, asked, working].map(id => on.store.tasks.get(alice, id)));
      const log = plain(await on.readAll(alice, asked));
      await on.reopen();
      expect(await Promise.all([done, asked, working].map(id => on.store.tasks.get(alice, id)))).toEqual(
        before,
      );
      expect(plain(await on.readAll(alice, asked))).toEqual(log);
      expect(plain(await on.store.log.read(alice, asked, 500 as Seq, 10))).toEqual(log.slice(500, 510));
      expect((await on.store.tasks.list(alice, ECHO, { pageSize: 9 })).totalSize).toBe(3);
      expect(on.store.lastAt).toBeGreaterThan(0);
      expect(await on.begin()).toMatchObject({ task: { id: working }, attempt: 2 });
      const page = await on.store.tasks.list(alice, ECHO, { pageSize: 1 });
      expect(page.tasks[0]?.id).toBe(working);
    });

    it("knows the time of the newest event after it was closed and opened, also if that moved no status", async context => {
      on.start();
      if (!on.under.lasting) return context.skip("this store keeps nothing, by design");
      const run = await on.begin(await on.createTask());
      on.now += 60_000;
      const { now } = on;
      await on.store.log.append(alice, run.task.id, [chunk("x")], { run });
      await on.reopen();
      expect(on.store.lastAt).toBe(now);
    });
  });
}
