import * as library from "@langchain/langgraph-checkpoint";
import {
  type BaseCheckpointSaver,
  emptyCheckpoint,
  MemorySaver,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { afterAll, describe, expect, it } from "vitest";
import { type AgentName, LIMITS } from "../../src/model/index.ts";
import type { ContextStorage, StorageArea } from "../../src/ports/index.ts";
import {
  createCheckpointerFactory,
  type StorageCheckpointer,
} from "../../src/runtime/langgraph/checkpointer.ts";
import type { CheckpointLibrary } from "../../src/runtime/langgraph/library.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { alice, bob, StoreHarness } from "../../src/testing/contracts/store-harness.ts";
import { tempFolder } from "../support/server.ts";
import { Conversation } from "../support/turn.ts";
import { checkpointerContract } from "./checkpointer.contract.ts";

const create = createCheckpointerFactory(library as unknown as CheckpointLibrary);
const asBase = (saver: StorageCheckpointer): BaseCheckpointSaver => saver as unknown as BaseCheckpointSaver;

const folder = tempFolder();
const on = new StoreHarness({
  open: parts => createSqliteStore({ ...parts, folder: folder.path, durability: "process" }),
  isPersistent: true,
  remove: folder.remove,
});
on.start();
afterAll(() => on.close());

function storageAt(otherArea: Partial<StorageArea> = {}): ContextStorage {
  const whole = { scope: alice, agent: "graph" as AgentName, area: uuid6(3), ...otherArea };
  return {
    get: key => on.store.storage.get(whole, key),
    list: range => on.store.storage.list(whole, range),
    put: changes => on.store.storage.put(whole, changes),
  };
}

// LangGraph's own checkpointer, to verify the contract itself.
checkpointerContract("MemorySaver", () => new MemorySaver());
checkpointerContract("context storage in memory", () => asBase(create(new Conversation().storage, "own")));
checkpointerContract("context storage in SQLite", () => asBase(create(storageAt(), "own")));

describe("the checkpointer of a context", () => {
  const config = (thread_id: string, checkpoint_ns = "") => ({ configurable: { thread_id, checkpoint_ns } });
  const made = (values = {}) => ({ ...emptyCheckpoint(), id: uuid6(3), channel_values: values });
  const about = { source: "loop", step: 0, parents: {} };

  it("is separate for each caller, agent and context, whatever the thread id is", async () => {
    const [area, thread] = ["context-1", "context-1"];
    await create(storageAt({ area }), thread).put(config(thread), made(), about, {});
    const others = [{ area, scope: bob }, { area, agent: "other" as AgentName }, { area: "context-2" }];
    for (const otherArea of others) {
      const other = create(storageAt(otherArea), thread);
      expect(await other.getTuple(config(thread))).toBeUndefined();
      expect(await Array.fromAsync(other.list({}))).toEqual([]);
    }
  });

  it("a thread id chosen by a node is separate from the thread of the context, also if it looks like a key", async () => {
    const checkpointer = create(storageAt(), "mine");
    await checkpointer.put(config("mine"), made(), about, {});
    for (const thread of ["own", "own/", "of-mine", "other", "c/own"])
      expect(await checkpointer.getTuple(config(thread))).toBeUndefined();
    await checkpointer.put(config("own"), made(), about, {});
    expect(await Array.fromAsync(checkpointer.list(config("mine")))).toHaveLength(1);
  });

  it("reports a state that is too large", async () => {
    const checkpointer = create(storageAt(), "mine");
    const large = made({ text: "x".repeat(LIMITS.storageValueBytesMax) });
    await expect(checkpointer.put(config("mine"), large, about, {})).rejects.toThrow(
      /state of the graph has \d+ characters/,
    );
    expect(await checkpointer.getTuple(config("mine"))).toBeUndefined();
  });

  it("a write that is only bytes is read as bytes", async () => {
    const checkpointer = create(storageAt(), "mine");
    const at = await checkpointer.put(config("mine"), made(), about, {});
    await checkpointer.putWrites(at, [["a", new Uint8Array([0, 255, 7])]], "task");
    expect((await checkpointer.getTuple(at))?.pendingWrites).toEqual([
      ["task", "a", new Uint8Array([0, 255, 7])],
    ]);
  });

  it("writes are ordered by task and index, and indexes compared as numbers", async () => {
    const checkpointer = create(storageAt(), "mine");
    const at = await checkpointer.put(config("mine"), made(), about, {});
    await checkpointer.putWrites(
      at,
      Array.from({ length: 11 }, (_, i) => ["a", i] as const),
      "z",
      "~pull, 2",
    );
    await checkpointer.putWrites(at, [["a", "y"]], "y", "~pull, 1");
    await checkpointer.putWrites(at, [["a", "x"]], "x");
    const writes = (await checkpointer.getTuple(at))?.pendingWrites?.map(one => one[2]);
    expect(writes).toEqual(["x", "y", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("prune keeps the newest checkpoint of each persistent namespace with its writes, and nothing else", async () => {
    const storage = storageAt();
    const checkpointer = create(storage, "mine");
    const newest: string[] = [];
    for (const ns of ["", "memory", "sub:123", "memory|x:1"])
      for (let i = 0; i < 25; i++) {
        const at = await checkpointer.put(config("mine", ns), made(), about, {});
        await checkpointer.putWrites(at, [["a", i]], "task");
        if (i === 24 && !ns.includes(":")) newest.push(at.configurable?.checkpoint_id as string);
      }
    await checkpointer.prune();
    const left = await Array.fromAsync(
      checkpointer.list(config("mine").configurable && { configurable: { thread_id: "mine" } }),
    );
    expect(left.map(one => one.checkpoint.id).toSorted()).toEqual(newest.toSorted());
    expect(left.map(one => one.pendingWrites)).toEqual([[["task", "a", 24]], [["task", "a", 24]]]);
    expect(await storage.list({ prefix: "", max: 100 })).toHaveLength(4);
  });

  it("prune keeps everything of a graph with delta channels", async () => {
    const checkpointer = create(storageAt(), "mine");
    for (let i = 0; i < 3; i++)
      await checkpointer.put(
        config("mine"),
        made(),
        { ...about, counters_since_delta_snapshot: { a: [i, i] } },
        {},
      );
    await checkpointer.prune();
    expect(await Array.fromAsync(checkpointer.list(config("mine")))).toHaveLength(3);
  });
});
