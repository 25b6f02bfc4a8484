import { toScope } from "../../auth/scope.ts";
import type { AgentName, ContextId, TaskEvent, TaskId, TaskState } from "../../model/index.ts";
import type { OwnerFilter, TaskScan } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { alice, bob, ECHO, StoreHarness, type StoreUnderTest, status } from "./store-harness.ts";

const OTHER = "other" as AgentName;
const eve = toScope("evil", "eve");

/** Lists over all agents, callers and tenants, in any store. */
export function overviewContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("the overview", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    const scan = async (more: Partial<TaskScan> = {}): Promise<readonly TaskId[]> => {
      const query = { owners: {}, withHidden: false, order: "newest", max: 2, ...more } as TaskScan;
      const found: TaskId[] = [];
      for (let after = query.after; ; ) {
        const page = await on.store.overview.scan({ ...query, ...(after !== undefined && { after }) });
        expect(page.tasks.length).toBeLessThanOrEqual(2);
        found.push(...page.tasks.map(task => task.taskId));
        if (page.next === undefined) return found;
        after = page.next;
      }
    };
    /** A moment later, so that the ids of tasks have times of their own. */
    const later = (ms = 10): void => void (on.now += ms);
    const createTask = (more: Parameters<StoreHarness["createTask"]>[0] = {}): Promise<TaskId> => {
      later();
      return on.createTask(more);
    };
    const end = async (taskId: TaskId, state: TaskState): Promise<void> => {
      const run = await on.claimRun(taskId);
      const event = { type: "status", state } as TaskEvent;
      await on.store.log.append(run.scope, taskId, [event], { run });
    };

    it("has the tasks of all callers and agents page by page, the newest first", async () => {
      const ids = [
        await createTask(),
        await createTask({ scope: bob }),
        await createTask({ scope: eve }),
        await createTask({ created: { agent: OTHER } }),
        await createTask(),
      ];
      expect(await scan()).toEqual(ids.toReversed());
      const page = await on.store.overview.scan({ owners: {}, withHidden: false, order: "newest", max: 5 });
      expect(page.tasks.map(task => [task.scope.tenant, task.scope.principal, task.agent])).toEqual([
        ["acme", "alice", "echo"],
        ["acme", "alice", "other"],
        ["evil", "eve", "echo"],
        ["acme", "bob", "echo"],
        ["acme", "alice", "echo"],
      ]);
    });

    it("a list that is read while tasks are created and end loses none and repeats none", async () => {
      const ids = [await createTask(), await createTask(), await createTask()];
      const first = await on.store.overview.scan({ owners: {}, withHidden: false, order: "newest", max: 2 });
      await end(ids[0] as TaskId, "completed");
      await createTask();
      const rest = await scan({ after: first.next as TaskId });
      expect([...first.tasks.map(task => task.taskId), ...rest]).toEqual(ids.toReversed());
    });

    it("filters by owner", async () => {
      const [mine, bobs, eves, others] = [
        await createTask(),
        await createTask({ scope: bob }),
        await createTask({ scope: eve }),
        await createTask({ created: { agent: OTHER } }),
      ];
      const by = (owners: OwnerFilter): Promise<readonly TaskId[]> => scan({ owners });
      expect(await by({ tenant: "acme" })).toEqual([others, bobs, mine]);
      expect(await by(alice)).toEqual([others, mine]);
      expect(await by({ agents: new Set([OTHER]) })).toEqual([others]);
      expect(await by({ tenant: "evil", agents: new Set([OTHER]) })).toEqual([]);
      expect(await by({ principal: "eve" })).toEqual([eves]);
      expect(await by({ tenant: "nowhere" })).toEqual([]);
    });

    it("filters by state, and follows its changes", async () => {
      const [failed, waiting, submitted, completed] = [
        await createTask(),
        await createTask(),
        await createTask({ created: { agent: OTHER } }),
        await createTask(),
      ];
      const runs = await on.store.runs.claim("w", new Set([ECHO]), 10);
      for (const [taskId, state] of [
        [failed, "failed"],
        [waiting, "input-required"],
        [completed, "completed"],
      ] as const) {
        const run = runs.find(one => one.task.id === taskId);
        if (run) await on.store.log.append(alice, taskId, [{ type: "status", state }], { run });
      }
      const by = (...states: readonly TaskState[]): Promise<readonly TaskId[]> =>
        scan({ states: new Set(states) });
      expect(await by("failed")).toEqual([failed]);
      expect(await by("submitted", "input-required")).toEqual([submitted, waiting]);
      expect(await by("completed", "failed")).toEqual([completed, failed]);
      expect(await by("canceled")).toEqual([]);
      expect(await scan({ states: new Set(["failed"]), owners: bob })).toEqual([]);
      const counts = await on.store.overview.count({});
      expect(counts.map(one => `${one.agent} ${one.state} ${one.count}`).sort()).toEqual([
        "echo completed 1",
        "echo failed 1",
        "echo input-required 1",
        "other submitted 1",
      ]);
      expect(await on.store.overview.count(bob)).toEqual([]);
      const waits = [{ agent: ECHO, state: "input-required", count: 1 }];
      expect(await on.store.overview.countWaiting({})).toEqual(waits);
      expect(await on.store.overview.countWaiting(bob)).toEqual([]);
    });

    it("filters by the time of creation", async () => {
      const first = await createTask();
      const from = (on.now += 100);
      const second = await createTask();
      const to = (on.now += 100);
      const third = await createTask();
      expect(await scan({ from })).toEqual([third, second]);
      expect(await scan({ from, to })).toEqual([second]);
      expect(await scan({ to })).toEqual([second, first]);
      expect(await scan({ from: on.now + 1_000 })).toEqual([]);
    });

    it("leaves bare replies out unless they are asked for", async () => {
      const shown = await createTask();
      const reply = await createTask({ created: { quiet: true, shown: false } });
      expect(await scan()).toEqual([shown]);
      expect(await scan({ withHidden: true })).toEqual([reply, shown]);
    });

    it("has the tasks of a context, and its first and last one", async () => {
      const contextId = "trip" as ContextId;
      const first = await createTask({ contextId });
      await createTask({ contextId, scope: bob });
      const last = await createTask({ contextId });
      await createTask();
      expect(await scan({ contextId, owners: alice, order: "oldest" })).toEqual([first, last]);
      expect(await scan({ contextId, owners: alice })).toEqual([last, first]);
      const context = { scope: alice, agent: ECHO, contextId };
      expect(await on.store.overview.contextEnds([context, { ...context, scope: eve }, context])).toEqual([
        { first, last },
        undefined,
        { first, last },
      ]);
      expect(await on.store.overview.contextEnds([])).toEqual([]);
      const own = await on.store.overview.read([last]);
      const generated = own.tasks[0]?.task.contextId as ContextId;
      expect(generated).toBe(contextId);
      later();
      const id = on.newId() as TaskId;
      const ownContext = on.newId() as ContextId;
      await on.append(id, { contextId: ownContext });
      const ends = await on.store.overview.contextEnds([
        { scope: alice, agent: ECHO, contextId: ownContext },
      ]);
      expect(ends).toEqual([{ first: id, last: id }]);
    });

    it("has the tasks that wait for their caller, the longest waiting first", async () => {
      const ids = [await createTask(), await createTask(), await createTask()] as const;
      const runs = await on.store.runs.claim("w", new Set([ECHO]), 10);
      for (const id of [ids[1], ids[0], ids[2]]) {
        later();
        const run = runs.find(one => one.task.id === id);
        if (run) await on.store.log.append(alice, id, [status("input-required")], { run });
      }
      const states = new Set(["input-required"] as const);
      const first = await on.store.overview.scanWaiting({ owners: {}, states, max: 2 });
      expect(first.taskIds).toEqual([ids[1], ids[0]]);
      const after = first.next;
      expect(after).toBeDefined();
      const second = await on.store.overview.scanWaiting({
        owners: {},
        states,
        max: 2,
        ...(after && { after }),
      });
      expect([second.taskIds, second.next]).toEqual([[ids[2]], undefined]);
      const none = { owners: {}, states: new Set(["auth-required"] as const), max: 2 };
      expect((await on.store.overview.scanWaiting(none)).taskIds).toEqual([]);
      expect((await on.store.overview.scanWaiting({ owners: bob, states, max: 2 })).taskIds).toEqual([]);
    });

    it("reads tasks of any caller, and skips those that do not exist", async () => {
      const [mine, eves] = [await createTask(), await createTask({ scope: eve })];
      const ids = [eves, on.newId() as TaskId, "no id" as TaskId, mine];
      const { tasks, used } = await on.store.overview.read(ids);
      expect(used).toBe(4);
      expect(tasks.map(one => [one.task.id, one.scope.principal, one.seq, one.since])).toEqual([
        [eves, "eve", 2, 0],
        [mine, "alice", 2, 0],
      ]);
    });

    it("lists the webhooks of all tasks, and gives one up", async () => {
      const [mine, eves] = [await createTask(), await createTask({ scope: eve })];
      const push = (id: string) => ({
        config: { id, url: `https://${id}.example/hook`, origin: "v1", events: "all" as const },
        key: id,
        opening: "task" as const,
      });
      await on.store.pushes.set(alice, mine, push("a"));
      await on.store.pushes.set(eve, eves, push("b"));
      await on.store.pushes.set(eve, eves, push("c"));
      const list = async (more: object = {}): Promise<readonly string[]> => {
        const page = await on.store.overview.scanPushes({ owners: {}, max: 10, ...more });
        return page.pushes.map(one => `${one.config.id} ${one.agent} ${one.scope.principal} ${one.state}`);
      };
      expect(await list()).toEqual(["c echo eve live", "b echo eve live", "a echo alice live"]);
      expect(await list({ owners: alice })).toEqual(["a echo alice live"]);
      expect(await list({ host: "b.example" })).toEqual(["b echo eve live"]);
      const first = await on.store.overview.scanPushes({ owners: {}, max: 2 });
      const next = await on.store.overview.scanPushes({ owners: {}, max: 2, after: first.next as number });
      expect([...first.pushes, ...next.pushes].map(one => one.config.id)).toEqual(["c", "b", "a"]);
      expect(await on.store.deliveries.giveUp(eves, "c")).toBe(true);
      expect(await on.store.deliveries.giveUp(eves, "c")).toBe(false);
      expect(await on.store.deliveries.giveUp(mine, "c")).toBe(false);
      expect(await list({ state: "dead" })).toEqual(["c echo eve dead"]);
      expect(await list({ state: "failing" })).toEqual([]);
      const claimed = await on.store.deliveries.claim(new Set(), 10);
      expect(claimed.map(one => one.config.id).sort()).toEqual(["a", "b"]);
      expect(await on.store.deliveries.redeliver(eves, "c", "place")).toBe(1);
      expect((await on.store.deliveries.claim(new Set(), 10)).map(one => one.config.id)).toEqual(["c"]);
    });
  });
}
