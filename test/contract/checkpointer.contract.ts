import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointTuple,
  DeltaSnapshot,
  emptyCheckpoint,
  INTERRUPT,
  TASKS,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, it } from "vitest";

type Config = CheckpointTuple["config"];

/**
 * The contract of LangGraph checkpointers: the cases of LangGraph's validation suite, which cannot be installed here, and a
 * few that real graphs depend on.
 */
export function checkpointerContract(name: string, create: () => BaseCheckpointSaver): void {
  describe(`${name} as a checkpointer of LangGraph`, () => {
    let saver: BaseCheckpointSaver;
    let thread_id: string;
    beforeEach(() => {
      saver = create();
      thread_id = uuid6(3);
    });

    const at = (checkpoint_ns: string, checkpoint_id?: string, thread = thread_id): Config => ({
      configurable: { thread_id: thread, checkpoint_ns, ...(checkpoint_id && { checkpoint_id }) },
    });
    const made = (values: Record<string, unknown> = {}, more: Partial<Checkpoint> = {}): Checkpoint => {
      const versions = Object.fromEntries(Object.keys(values).map(key => [key, 1]));
      return {
        ...emptyCheckpoint(),
        id: uuid6(3),
        channel_values: values,
        channel_versions: versions,
        ...more,
      };
    };
    const about = (source: "input" | "loop", step: number) => ({ source, step, parents: {} });
    const put = (
      config: Config,
      checkpoint: Checkpoint,
      source: "input" | "loop" = "loop",
    ): Promise<Config> => saver.put(config, checkpoint, about(source, 1), checkpoint.channel_versions);
    const ids = async (config: Config, filter: object = {}): Promise<(string | undefined)[]> =>
      (await Array.fromAsync(saver.list(config, filter))).map(one => one.checkpoint.id);

    describe.each(["", "child"])('in the namespace "%s"', ns => {
      it("put: returns a config with thread, namespace and id only", async () => {
        const checkpoint = made();
        const config = { configurable: { thread_id, checkpoint_ns: ns, canary: "tweet" } };
        expect(await put(config, checkpoint)).toEqual(at(ns, checkpoint.id));
      });

      it("put: the checkpoint is found unchanged, by its id and as the latest", async () => {
        const [first, second] = [made({ animals: ["dog"] }), made({ animals: ["dog", "fish"] })];
        const config = await put(at(ns), first, "input");
        await put(config, second);
        const tuple = { metadata: about("loop", 1), pendingWrites: [] };
        expect(await saver.getTuple(at(ns, first.id))).toEqual({
          ...tuple,
          config: at(ns, first.id),
          checkpoint: first,
          metadata: about("input", 1),
        });
        const newest = {
          config: at(ns, second.id),
          checkpoint: second,
          parentConfig: at(ns, first.id),
          ...tuple,
        };
        expect(await saver.getTuple(at(ns, second.id))).toEqual(newest);
        expect(await saver.getTuple(at(ns))).toEqual(newest);
        expect(await saver.get(at(ns))).toEqual(second);
      });

      it("put: requires a thread", async () => {
        await expect(put({}, made())).rejects.toThrow("thread_id");
        await expect(put({ configurable: { checkpoint_ns: ns } }, made())).rejects.toThrow("thread_id");
      });

      it("getTuple: returns undefined for a missing checkpoint", async () => {
        const config = await put(at(ns), made());
        expect(await saver.getTuple(at(ns, uuid6(3)))).toBeUndefined();
        expect(await saver.getTuple(at(ns, config.configurable?.checkpoint_id, "other"))).toBeUndefined();
        expect(await saver.getTuple(at(ns, undefined, "other"))).toBeUndefined();
        expect(await saver.getTuple({ configurable: { checkpoint_ns: ns } })).toBeUndefined();
      });

      it("getTuple: includes channels that only an earlier checkpoint wrote", async () => {
        const first = made({ messages: ["hi"], stepCount: 1 });
        const second = made(
          { messages: ["hi"], stepCount: 3 },
          { channel_versions: { messages: 1, stepCount: 2 } },
        );
        const config = await put(at(ns), first);
        await saver.put(config, second, about("loop", 2), { stepCount: 2 });
        expect((await saver.getTuple(at(ns)))?.checkpoint).toEqual(second);
      });

      it("putWrites: writes belong to their checkpoint", async () => {
        const first = await put(at(ns), made());
        await saver.putWrites(first, [[TASKS, ["add_fish"]]], "pending_sends_task");
        const second = await put(first, made());
        await saver.putWrites(second, [["animals", ["dog", "fish"]]], "add_fish");
        expect((await saver.getTuple(first))?.pendingWrites).toEqual([
          ["pending_sends_task", TASKS, ["add_fish"]],
        ]);
        expect((await saver.getTuple(second))?.pendingWrites).toEqual([
          ["add_fish", "animals", ["dog", "fish"]],
        ]);
      });

      it("putWrites: requires a thread and a checkpoint", async () => {
        const config = { configurable: { checkpoint_ns: ns, checkpoint_id: uuid6(3) } };
        await expect(saver.putWrites(config, [["a", 1]], "task")).rejects.toThrow("thread_id");
        await expect(saver.putWrites(at(ns), [["a", 1]], "task")).rejects.toThrow("checkpoint_id");
      });

      it("putWrites: a repeated task does not change its writes, except for its newest interrupt", async () => {
        const config = await put(at(ns), made());
        await saver.putWrites(config, [["a", 1]], "task");
        await saver.putWrites(config, [["a", 2]], "task");
        await saver.putWrites(config, [[INTERRUPT, { id: "x", value: 1 }]], "other");
        await saver.putWrites(config, [[INTERRUPT, { id: "x", value: 2 }]], "other");
        const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
        expect(writes.toSorted()).toEqual([
          ["other", INTERRUPT, { id: "x", value: 2 }],
          ["task", "a", 1],
        ]);
      });

      it("getDeltaChannelHistory: goes back to the nearest value", async () => {
        const first = await put(at(ns), made({ messages: new DeltaSnapshot([0]) }));
        await saver.putWrites(first, [["messages", [2]]], "task-b");
        await saver.putWrites(first, [["messages", [1]]], "task-a");
        const second = await put(first, made());
        await saver.putWrites(second, [["messages", [3]]], "task");
        const third = await put(second, made());
        const history = await saver.getDeltaChannelHistory({ config: third, channels: ["messages", "none"] });
        expect(history.messages?.seed).toEqual(new DeltaSnapshot([0]));
        expect(history.messages?.writes.map(write => write[2])).toEqual([[1], [2], [3]]);
        expect(history.none).toEqual({ writes: [] });
      });
    });

    it("put: the default namespace is the root", async () => {
      const checkpoint = made();
      expect(await put({ configurable: { thread_id } }, checkpoint)).toEqual(at("", checkpoint.id));
    });

    it("getTuple: checkpoints of older versions include their pending sends", async () => {
      const first = await put(at(""), made({}, { v: 1 }));
      await saver.putWrites(
        first,
        [
          [TASKS, "send-1"],
          [TASKS, "send-2"],
        ],
        "task-1",
      );
      await saver.putWrites(first, [[TASKS, "send-3"]], "task-2");
      expect((await saver.getTuple(first))?.checkpoint.channel_values).toEqual({});
      const second = await put(first, made({}, { v: 1 }));
      const sent = { [TASKS]: ["send-1", "send-2", "send-3"] };
      expect((await saver.getTuple(second))?.checkpoint.channel_values).toEqual(sent);
      expect((await saver.getTuple(second))?.checkpoint.channel_versions[TASKS]).toBeDefined();
      const listed = await Array.fromAsync(saver.list(at("")));
      expect(listed[0]?.checkpoint.channel_values).toEqual(sent);
    });

    it("list: filters by thread, namespace, position, metadata and limit, the newest first", async () => {
      const all: { id: string; thread: string; ns: string; source: string }[] = [];
      for (const thread of [thread_id, "second"])
        for (const ns of ["", "child"]) {
          let config = at(ns, undefined, thread);
          for (const source of ["input", "loop", "loop"] as const) {
            const checkpoint = made();
            config = await put(config, checkpoint, source);
            await saver.putWrites(config, [["a", checkpoint.id]], "task");
            all.push({ id: checkpoint.id, thread, ns, source });
          }
        }
      const before = [undefined, all[1], all[2], all[9]];
      for (const thread of [undefined, thread_id, "second", "nobody"])
        for (const ns of [undefined, "", "child"])
          for (const end of before)
            for (const source of [undefined, "input", "loop", "update"]) {
              const expected = all
                .filter(
                  one =>
                    (thread === undefined || one.thread === thread) && (ns === undefined || one.ns === ns),
                )
                .filter(
                  one =>
                    (end === undefined || one.id < end.id) && (source === undefined || one.source === source),
                )
                .map(one => one.id);
              const config = { configurable: { thread_id: thread, checkpoint_ns: ns } } as Config;
              const filter = {
                ...(end && { before: at(end.ns, end.id, end.thread) }),
                filter: source === undefined ? {} : { source },
              };
              const found = await ids(config, filter);
              expect(found.toSorted()).toEqual(expected.toSorted());
              if (thread !== undefined && ns !== undefined) expect(found).toEqual(expected.toReversed());
              for (const limit of [1, 2])
                expect(await ids(config, { ...filter, limit })).toEqual(found.slice(0, limit));
            }
      const listed = await Array.fromAsync(saver.list(at("child")));
      for (const tuple of listed) expect(tuple).toEqual(await saver.getTuple(tuple.config));
    });

    it("deleteThread: deletes one thread and keeps the others", async () => {
      const config = await put(at("", undefined, "1"), made());
      await saver.putWrites(config, [["a", 1]], "task");
      await put(at("child", undefined, "1"), made());
      await put(at("", undefined, "2"), made());
      await saver.deleteThread("1");
      expect(await ids({ configurable: { thread_id: "1" } })).toEqual([]);
      expect(await saver.getTuple(config)).toBeUndefined();
      expect(await ids({ configurable: { thread_id: "2" } })).toHaveLength(1);
    });

    it("messages, bytes and other objects keep their types", async () => {
      const values = {
        messages: [
          new HumanMessage({ content: "hi", id: "1" }),
          new AIMessage({ content: [{ type: "text", text: "ü" }] }),
        ],
        bytes: new Uint8Array([0, 255, 7]),
        set: new Set([1]),
        map: new Map([["a", { b: 1 }]]),
        nothing: undefined,
      };
      const config = await put(at(""), made(values));
      const { bytes: _bytes, ...written } = values;
      await saver.putWrites(config, Object.entries(written), "task");
      const tuple = (await saver.getTuple(config)) as CheckpointTuple;
      const { messages, ...rest } = tuple.checkpoint.channel_values as typeof values;
      expect(messages[0]).toBeInstanceOf(HumanMessage);
      expect(messages[1]).toBeInstanceOf(AIMessage);
      expect(messages.map(one => one.content)).toEqual(values.messages.map(one => one.content));
      expect(rest).toEqual({ bytes: values.bytes, set: values.set, map: values.map });
      const found = new Map(tuple.pendingWrites?.map(([, channel, value]) => [channel, value]));
      expect((found.get("messages") as unknown[])[0]).toBeInstanceOf(HumanMessage);
      expect(found.get("map")).toEqual(values.map);
    });
  });
}
