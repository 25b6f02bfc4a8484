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
import { createSavers, type ShelfSaver } from "../../src/runtime/langgraph/checkpointer.ts";
import type { Library } from "../../src/runtime/langgraph/library.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { tempFolder } from "../support/server.ts";
import { Conversation } from "../support/turn.ts";
import { checkpointerContract } from "./checkpointer.contract.ts";
import { alice, bob, Stage } from "./stage.ts";

const create = createSavers(library as unknown as Library);
const asBase = (saver: ShelfSaver): BaseCheckpointSaver => saver as unknown as BaseCheckpointSaver;

const folder = tempFolder();
const on = new Stage({
  open: parts => createSqliteStore({ ...parts, folder: folder.path, durability: "process" }),
  lasting: true,
  remove: folder.remove,
});
on.start();
afterAll(() => on.end());

function shelfAt(place: Partial<StorageArea> = {}): ContextStorage {
  const whole = { scope: alice, agent: "graph" as AgentName, area: uuid6(3), ...place };
  return {
    get: key => on.store.storage.get(whole, key),
    list: range => on.store.storage.list(whole, range),
    put: changes => on.store.storage.put(whole, changes),
  };
}

// LangGraph's own, so that the suite itself is known to be right.
checkpointerContract("MemorySaver", () => new MemorySaver());
checkpointerContract("the shelf in memory", () => asBase(create(new Conversation().shelf, "own")));
checkpointerContract("the shelf in SQLite", () => asBase(create(shelfAt(), "own")));

describe("a checkpointer on a shelf", () => {
  const config = (thread_id: string, checkpoint_ns = "") => ({ configurable: { thread_id, checkpoint_ns } });
  const made = (values = {}) => ({ ...emptyCheckpoint(), id: uuid6(3), channel_values: values });
  const about = { source: "loop", step: 0, parents: {} };

  it("is one for each caller, agent and context, whatever the thread is called", async () => {
    const [area, thread] = ["context-1", "context-1"];
    await create(shelfAt({ area }), thread).put(config(thread), made(), about, {});
    const others = [{ area, scope: bob }, { area, agent: "other" as AgentName }, { area: "context-2" }];
    for (const place of others) {
      const other = create(shelfAt(place), thread);
      expect(await other.getTuple(config(thread))).toBeUndefined();
      expect(await Array.fromAsync(other.list({}))).toEqual([]);
    }
  });

  it("a thread that a node names is apart from that of the context, also if it is called like a key", async () => {
    const saver = create(shelfAt(), "mine");
    await saver.put(config("mine"), made(), about, {});
    for (const thread of ["own", "own/", "of-mine", "other", "c/own"])
      expect(await saver.getTuple(config(thread))).toBeUndefined();
    await saver.put(config("own"), made(), about, {});
    expect(await Array.fromAsync(saver.list(config("mine")))).toHaveLength(1);
  });

  it("tells in plain words when a state is too large to be kept", async () => {
    const saver = create(shelfAt(), "mine");
    const large = made({ text: "x".repeat(LIMITS.shelfValueBytesMax) });
    await expect(saver.put(config("mine"), large, about, {})).rejects.toThrow(
      /state of the graph has \d+ characters/,
    );
    expect(await saver.getTuple(config("mine"))).toBeUndefined();
  });

  it("bytes that are the whole of a write come back as bytes", async () => {
    const saver = create(shelfAt(), "mine");
    const at = await saver.put(config("mine"), made(), about, {});
    await saver.putWrites(at, [["a", new Uint8Array([0, 255, 7])]], "task");
    expect((await saver.getTuple(at))?.pendingWrites).toEqual([["task", "a", new Uint8Array([0, 255, 7])]]);
  });

  it("writes come in the order of tasks and of writes, numbers as numbers", async () => {
    const saver = create(shelfAt(), "mine");
    const at = await saver.put(config("mine"), made(), about, {});
    await saver.putWrites(
      at,
      Array.from({ length: 11 }, (_, i) => ["a", i] as const),
      "z",
      "~pull, 2",
    );
    await saver.putWrites(at, [["a", "y"]], "y", "~pull, 1");
    await saver.putWrites(at, [["a", "x"]], "x");
    const writes = (await saver.getTuple(at))?.pendingWrites?.map(one => one[2]);
    expect(writes).toEqual(["x", "y", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("prune keeps the newest of each lasting namespace, with its writes, and nothing else", async () => {
    const shelf = shelfAt();
    const saver = create(shelf, "mine");
    const newest: string[] = [];
    for (const ns of ["", "memory", "sub:123", "memory|x:1"])
      for (let i = 0; i < 25; i++) {
        const at = await saver.put(config("mine", ns), made(), about, {});
        await saver.putWrites(at, [["a", i]], "task");
        if (i === 24 && !ns.includes(":")) newest.push(at.configurable?.checkpoint_id as string);
      }
    await saver.prune();
    const left = await Array.fromAsync(
      saver.list(config("mine").configurable && { configurable: { thread_id: "mine" } }),
    );
    expect(left.map(one => one.checkpoint.id).toSorted()).toEqual(newest.toSorted());
    expect(left.map(one => one.pendingWrites)).toEqual([[["task", "a", 24]], [["task", "a", 24]]]);
    expect(await shelf.list({ prefix: "", max: 100 })).toHaveLength(4);
  });

  it("prune leaves all of a graph whose checkpoints are told by what was written before them", async () => {
    const saver = create(shelfAt(), "mine");
    for (let i = 0; i < 3; i++)
      await saver.put(config("mine"), made(), { ...about, counters_since_delta_snapshot: { a: [i, i] } }, {});
    await saver.prune();
    expect(await Array.fromAsync(saver.list(config("mine")))).toHaveLength(3);
  });
});
