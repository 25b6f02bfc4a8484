import { toScope } from "../../auth/scope.ts";
import type { AgentName, Scope, Seq, TaskEvent, TaskId } from "../../model/index.ts";
import type { CallerName, NamedTask } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import {
  alice,
  bob,
  ECHO,
  faultCode,
  StoreHarness,
  type StoreUnderTest,
  status,
  userMessage,
} from "./store-harness.ts";

/** Names that callers give, in any store. */
export function namesContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("names", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    const find = (kind: CallerName["kind"], value: string, scope: Scope = alice): Promise<NamedTask | null> =>
      on.store.tasks.findByName(scope, ECHO, { kind, name: value });
    const keyed = (value: string) => ({ message: { key: { name: value, digest: `digest of ${value}` } } });

    it("finds a task by its alias, a call by its key and a message by its id, each with its event", async () => {
      const id = await on.createTask({
        created: { alias: "mine" },
        message: { key: { name: "k", digest: "d" }, once: "o" },
      });
      expect(await find("alias", "mine")).toEqual({ taskId: id, seq: 1 });
      expect(await find("key", "k")).toEqual({ taskId: id, seq: 2, digest: "d" });
      expect(await find("message", "hi")).toEqual({ taskId: id, seq: 2, digest: "o" });
      expect(await find("key", "mine")).toBeNull();
      expect(await find("alias", "k")).toBeNull();
    });

    it("shows no name before it is committed", async () => {
      const done = on.append(on.newId() as TaskId, keyed("k"));
      expect(await find("key", "k")).toBeNull();
      await done;
      expect(await find("key", "k")).not.toBeNull();
    });

    it("a name is used once, and the second append is rejected when the first can be read", async () => {
      const [first, second] = [on.newId(), on.newId()] as [TaskId, TaskId];
      const done = on.append(first, keyed("k"));
      const late = faultCode(on.append(second, keyed("k"))).then(async code => [
        code,
        await find("key", "k"),
      ]);
      expect(await late).toEqual(["conflict", { taskId: first, seq: 2, digest: "digest of k" }]);
      await done;
      expect(await faultCode(on.append(second, keyed("k")))).toBe("conflict");
      expect(await on.store.tasks.get(alice, second)).toBeNull();
    });

    it("a rejected append changes nothing: the same task can be created with another name", async () => {
      await on.createTask(keyed("k"));
      const id = on.newId() as TaskId;
      expect(await faultCode(on.append(id, keyed("k")))).toBe("conflict");
      await on.append(id, keyed("l"));
      expect(await find("key", "l")).toMatchObject({ taskId: id });
    });

    it("each kind of name has a namespace of its own", async () => {
      await on.createTask({ created: { alias: "x" } });
      await on.createTask(keyed("x"));
      await on.createTask({ message: { once: "o" } });
      expect(await faultCode(on.createTask({ created: { alias: "x" } }))).toBe("conflict");
      expect(await faultCode(on.createTask(keyed("x")))).toBe("conflict");
      expect(await faultCode(on.createTask({ message: { once: "p" } }))).toBe("conflict");
      expect(await faultCode(on.createTask({ message: {} }))).toBe("accepted");
    });

    it("callers, tenants and agents have namespaces of their own", async () => {
      const id = await on.createTask(keyed("k"));
      const others: readonly Scope[] = [bob, toScope("other", "alice"), toScope("acme", "")];
      for (const scope of others) {
        expect(await find("key", "k", scope)).toBeNull();
        const own = await on.createTask({ scope, ...keyed("k") });
        expect(await find("key", "k", scope)).toMatchObject({ taskId: own });
      }
      const elsewhere = "elsewhere" as AgentName;
      expect(await on.store.tasks.findByName(alice, elsewhere, { kind: "key", name: "k" })).toBeNull();
      await on.createTask({ created: { agent: elsewhere }, ...keyed("k") });
      expect(await find("key", "k")).toMatchObject({ taskId: id });
    });

    it("messages to an existing task have names, too, whatever their effect", async () => {
      const id = await on.createTask({ message: {} });
      const run = await on.claimRun(id);
      const asks: TaskEvent = { type: "status", state: "input-required", asks: ["a", "b"] };
      const says = (type: string, value: string): TaskEvent =>
        ({
          ...userMessage(value, { key: { name: value, digest: value }, answers: { a: 1 } }),
          type,
        }) as TaskEvent;
      await on.store.log.append(alice, id, [says("incoming", "while")], { state: "working" });
      await on.store.log.append(alice, id, [asks], { run });
      await on.store.log.append(alice, id, [says("answered", "half")], { state: "input-required" });
      await on.store.log.append(alice, id, [says("message", "rest")], { state: "input-required" });
      const places = await Promise.all(["while", "half", "rest"].map(value => find("key", value)));
      expect(places.map(found => found?.seq)).toEqual([4, 6, 7]);
      const again = on.store.log.append(alice, id, [says("message", "half")], { after: 7 as Seq });
      expect(await faultCode(again)).toBe("conflict");
    });

    it("an append that the lifecycle rejects reserves no name", async () => {
      const id = await on.completeTask();
      const late = on.store.log.append(alice, id, [userMessage("late", keyed("k").message)], {
        after: 5 as Seq,
      });
      expect(await faultCode(late)).toBe("conflict");
      expect(await faultCode(on.createTask(keyed("k")))).toBe("accepted");
    });

    it("a failed commit releases its names", async context => {
      if (!on.under.setFull) return context.skip("this store never refuses a commit");
      const before = await on.createTask(keyed("before"));
      on.under.setFull(true);
      const id = on.newId() as TaskId;
      const first = faultCode(on.append(id, keyed("k")));
      const second = faultCode(on.append(on.newId() as TaskId, keyed("k")));
      expect([await first, await second]).toEqual(["unavailable", "conflict"]);
      expect(await find("key", "k")).toBeNull();
      on.under.setFull(false);
      await on.append(id, keyed("k"));
      expect(await find("key", "k")).toMatchObject({ taskId: id });
      expect(await find("key", "before")).toMatchObject({ taskId: before });
    });

    it("names exist after the store was reopened", async context => {
      if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
      const id = await on.createTask({ created: { alias: "ä'ö\"" }, ...keyed("k") });
      await on.reopen();
      expect(await find("alias", "ä'ö\"")).toEqual({ taskId: id, seq: 1 });
      expect(await find("key", "k")).toEqual({ taskId: id, seq: 2, digest: "digest of k" });
      expect(await find("key", "k", bob)).toBeNull();
      expect(await faultCode(on.createTask(keyed("k")))).toBe("conflict");
    });

    it("an ended task keeps its names", async () => {
      const id = await on.createTask(keyed("k"));
      const run = await on.claimRun(id);
      await on.store.log.append(alice, id, [status("completed")], { run });
      expect(await find("key", "k")).toMatchObject({ taskId: id });
    });
  });
}
