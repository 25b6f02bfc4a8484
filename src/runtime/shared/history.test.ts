import { describe, expect, test } from "vitest";
import { Conversation } from "../../../test/support/turn.ts";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import type { Json } from "../../lib/json.ts";
import { LIMITS, type TaskId } from "../../model/index.ts";
import { type History, readHistory, saveTurn } from "./history.ts";

const NOTHING: History = { earlier: [], turns: [] };

/** Tasks of one context, by their numbers. */
function createContext() {
  const conversation = new Conversation().addMessage("hi");
  const warnings: string[] = [];
  const log = {
    ...conversation.turn().log,
    warn: (_facts: object, text: string) => void warnings.push(text),
  };
  const ctx = { storage: conversation.storage, log } as unknown as Ctx;
  const task = (number: number, turn = 1) => ({ id: `t${1_000 + number}` as TaskId, turn }) as AgentTask;
  const keys = async () => (await conversation.storage.list({ prefix: "", max: 1_000 })).map(one => one.key);
  return { ctx, task, keys, warnings };
}
const say = (text: string): Json => ({ role: "user", content: text });

describe("the history of a task", () => {
  test("contains the messages of earlier tasks, and its own turns", async () => {
    const { ctx, task } = createContext();
    for (const number of [1, 2, 9]) await saveTurn(task(number), ctx, NOTHING, [say(`${number}`)], false);
    const first = await readHistory(task(5), ctx, 100);
    expect(first).toEqual({ earlier: [say("1"), say("2")], turns: [] });
    await saveTurn(task(5), ctx, first, [say("5a")], true);
    await saveTurn(task(5), ctx, first, [say("5a again")], true);
    const second = await readHistory(task(5, 3), ctx, 100);
    expect(second.turns).toEqual([[say("5a again")]]);
    await saveTurn(task(5, 3), ctx, second, [say("5c")], false);
    expect((await readHistory(task(5, 4), ctx, 100)).turns).toEqual([[say("5a again")], [], [say("5c")]]);
    expect((await readHistory(task(7), ctx, 100)).earlier).toEqual(["1", "2", "5a again", "5c"].map(say));
  });

  test("leaves out open questions, contains whole tasks only, and deletes outdated entries", async () => {
    const { ctx, task, keys } = createContext();
    await saveTurn(task(1), ctx, NOTHING, [say("a"), say("b")], false);
    await saveTurn(task(2), ctx, NOTHING, [say("open")], true);
    await saveTurn(task(3), ctx, NOTHING, [say("c"), say("d")], false);
    expect((await readHistory(task(4), ctx, 3)).earlier).toEqual([say("c"), say("d")]);
    expect(await keys()).toEqual(["task/t1002", "task/t1003"]);
  });

  test("stays bounded, however many tasks a context has and however many questions stay open", async () => {
    const { ctx, task, keys } = createContext();
    for (let number = 1; number <= 300; number++) {
      await readHistory(task(number), ctx, 10);
      await saveTurn(task(number), ctx, NOTHING, [say(`${number}`)], number % 2 === 0);
    }
    expect((await keys()).length).toBeLessThan(220);
    expect((await readHistory(task(301), ctx, 10)).earlier).toHaveLength(10);
  });
});

describe("a large task", () => {
  const picture = { type: "image_url", image_url: { url: "x".repeat(LIMITS.historyTaskBytesMax) } };
  const message: Json = { role: "user", content: [{ type: "text", text: "Look" }, picture] };

  test("is stored without its files; with them as long as it is open", async () => {
    const { ctx, task } = createContext();
    await saveTurn(task(1), ctx, NOTHING, [message], true);
    expect((await readHistory(task(1, 2), ctx, 100)).turns).toEqual([[message]]);
    await saveTurn(task(1), ctx, NOTHING, [message], false);
    const gone = { type: "text", text: "(a file was here)" };
    expect((await readHistory(task(2), ctx, 100)).earlier).toEqual([
      { role: "user", content: [{ type: "text", text: "Look" }, gone] },
    ]);
  });

  test("that is too large even without files is not stored, and a warning is logged", async () => {
    const { ctx, task, warnings } = createContext();
    await saveTurn(task(1), ctx, NOTHING, [say("x".repeat(LIMITS.historyTaskBytesMax))], false);
    expect((await readHistory(task(2), ctx, 100)).earlier).toEqual([]);
    expect(warnings).toEqual(["the messages of a task are too large for the history of its context"]);
  });
});
