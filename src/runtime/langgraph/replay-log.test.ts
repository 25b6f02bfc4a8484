import { expect, test } from "vitest";
import { Conversation } from "../../../test/support/turn.ts";
import type { Checkpoint, Checkpointer } from "./graph.ts";
import { ReplayLog } from "./replay-log.ts";

test("a checkpoint is stored after the writes before it, so that a crash in between loses no output", async () => {
  const stored: string[] = [];
  const writes = Promise.withResolvers<void>();
  const checkpointer = {
    put: async (config: object) => {
      stored.push("checkpoint");
      return config;
    },
    putWrites: async () => {
      await writes.promise;
      stored.push("writes");
    },
  } as unknown as Checkpointer;
  const wrapped = new ReplayLog(new Conversation().storage, "turn").wrapOther(checkpointer);
  const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "1" } };
  const both = [
    wrapped.putWrites(config, [["messages", []]], "task"),
    wrapped.put(config, { id: "2" } as Checkpoint, {}, {}),
  ];
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)));
  writes.resolve();
  await Promise.all(both);
  expect(stored).toEqual(["writes", "checkpoint"]);
});
