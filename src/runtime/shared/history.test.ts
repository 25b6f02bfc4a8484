import { describe, expect, test } from "vitest";
import { Conversation } from "../../../test/support/turn.ts";
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";
import { LIMITS, type TaskId } from "../../model/index.ts";
import { keepTurn, type Past, readPast } from "./history.ts";

const NOTHING: Past = { earlier: [], turns: [] };

/** Tasks of one context, by their numbers. */
function createContext() {
  const conversation = new Conversation().said("hi");
  const warnings: string[] = [];
  const log = {
    ...conversation.turn().log,
    warn: (_facts: object, text: string) => void warnings.push(text),
  };
  const ctx = { shelf: conversation.shelf, log } as unknown as Ctx;
  const task = (number: number, turn = 1) => ({ id: `t${1_000 + number}` as TaskId, turn }) as AgentTask;
  const keys = async () => (await conversation.shelf.list({ prefix: "", max: 1_000 })).map(one => one.key);
  return { ctx, task, keys, warnings };
}
const say = (text: string): Json => ({ role: "user", content: text });

describe("the past of a task", () => {
  test("is what was kept of tasks before it, and its own turns", async () => {
    const { ctx, task } = createContext();
    for (const number of [1, 2, 9]) await keepTurn(task(number), ctx, NOTHING, [say(`${number}`)], false);
    const first = await readPast(task(5), ctx, 100);
    expect(first).toEqual({ earlier: [say("1"), say("2")], turns: [] });
    await keepTurn(task(5), ctx, first, [say("5a")], true);
    await keepTurn(task(5), ctx, first, [say("5a again")], true);
    const second = await readPast(task(5, 3), ctx, 100);
    expect(second.turns).toEqual([[say("5a again")]]);
    await keepTurn(task(5, 3), ctx, second, [say("5c")], false);
    expect((await readPast(task(5, 4), ctx, 100)).turns).toEqual([[say("5a again")], [], [say("5c")]]);
    expect((await readPast(task(7), ctx, 100)).earlier).toEqual(["1", "2", "5a again", "5c"].map(say));
  });

  test("leaves out what is still open, and takes whole tasks only; what no longer counts is taken away", async () => {
    const { ctx, task, keys } = createContext();
    await keepTurn(task(1), ctx, NOTHING, [say("a"), say("b")], false);
    await keepTurn(task(2), ctx, NOTHING, [say("open")], true);
    await keepTurn(task(3), ctx, NOTHING, [say("c"), say("d")], false);
    expect((await readPast(task(4), ctx, 3)).earlier).toEqual([say("c"), say("d")]);
    expect(await keys()).toEqual(["task/t1002", "task/t1003"]);
  });

  test("does not pile up, however many tasks a context has and however many questions stay open", async () => {
    const { ctx, task, keys } = createContext();
    for (let number = 1; number <= 300; number++) {
      await readPast(task(number), ctx, 10);
      await keepTurn(task(number), ctx, NOTHING, [say(`${number}`)], number % 2 === 0);
    }
    expect((await keys()).length).toBeLessThan(220);
    expect((await readPast(task(301), ctx, 10)).earlier).toHaveLength(10);
  });
});

describe("a large task", () => {
  const picture = { type: "image_url", image_url: { url: "x".repeat(LIMITS.historyTaskBytesMax) } };
  const message: Json = { role: "user", content: [{ type: "text", text: "Look" }, picture] };

  test("is remembered without its files; as long as it is open, with them", async () => {
    const { ctx, task } = createContext();
    await keepTurn(task(1), ctx, NOTHING, [message], true);
    expect((await readPast(task(1, 2), ctx, 100)).turns).toEqual([[message]]);
    await keepTurn(task(1), ctx, NOTHING, [message], false);
    const gone = { type: "text", text: "(a file was here)" };
    expect((await readPast(task(2), ctx, 100)).earlier).toEqual([
      { role: "user", content: [{ type: "text", text: "Look" }, gone] },
    ]);
  });

  test("that is large without files is not remembered, and the log tells", async () => {
    const { ctx, task, warnings } = createContext();
    await keepTurn(task(1), ctx, NOTHING, [say("x".repeat(LIMITS.historyTaskBytesMax))], false);
    expect((await readPast(task(2), ctx, 100)).earlier).toEqual([]);
    expect(warnings).toEqual(["a task is too large to be remembered in its context"]);
  });
});
