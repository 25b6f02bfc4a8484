import { describe, expect, test } from "vitest";
import { Conversation } from "../../../test/support/turn.ts";
import type { Ctx } from "../../agent/context.ts";
import { agent } from "../../agent/definition.ts";
import { LIMITS } from "../../model/index.ts";

/** Runs a function that is not a generator: what it returns is for the test. */
async function attempt<T>(conversation: Conversation, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  let result: T | undefined;
  const run = async (_task: unknown, ctx: Ctx): Promise<void> => {
    result = await work(ctx);
  };
  await conversation.run(agent({ name: "tested", run }));
  return result as T;
}

describe("a step", () => {
  test("is executed once: a later attempt gets the recorded result", async () => {
    const conversation = new Conversation().addMessage("go");
    let done = 0;
    const work = (ctx: Ctx): Promise<unknown> =>
      ctx.step("count", async () => ({ done: ++done, at: [1, "x"] }));
    expect(await attempt(conversation, work)).toEqual({ done: 1, at: [1, "x"] });
    expect(await attempt(conversation, work)).toEqual({ done: 1, at: [1, "x"] });
    expect(conversation.steps).toEqual([
      { kind: "step", name: "count", nth: 1, value: { done: 1, at: [1, "x"] } },
    ]);
  });

  test("is executed again in the next turn", async () => {
    const conversation = new Conversation().addMessage("go");
    let done = 0;
    const work = (ctx: Ctx): Promise<number> => ctx.step("count", () => ++done);
    await attempt(conversation, work);
    conversation.addMessage("once more");
    expect(await attempt(conversation, work)).toBe(2);
  });

  test("with the same name is identified by the order of the starts, not of the ends", async () => {
    const conversation = new Conversation().addMessage("go");
    const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const work = (ctx: Ctx, open: boolean): Promise<number[]> =>
      Promise.all(
        gates.map(async ({ promise, resolve }, i) => {
          if (open) resolve();
          return ctx.step("item", async () => {
            await promise;
            return i;
          });
        }),
      );
    const first = attempt(conversation, ctx => work(ctx, false));
    for (const gate of gates.toReversed()) {
      gate.resolve();
      await new Promise(resolve => setImmediate(resolve));
    }
    expect(await first).toEqual([0, 1, 2]);
    expect(conversation.steps.map(note => note.nth)).toEqual([3, 2, 1]);
    expect(await attempt(conversation, ctx => work(ctx, true))).toEqual([0, 1, 2]);
  });

  test("that throws throws again in a later attempt without being executed: the code takes the same branch", async () => {
    const conversation = new Conversation().addMessage("go");
    let tries = 0;
    const work = (ctx: Ctx): Promise<unknown> =>
      ctx
        .step("load", () => {
          tries += 1;
          throw Object.assign(new RangeError("too far"), { code: "FAR" });
        })
        .catch((error: Error & { code: string }) => [error.name, error.message, error.code]);
    expect(await attempt(conversation, work)).toEqual(["RangeError", "too far", "FAR"]);
    expect(await attempt(conversation, work)).toEqual(["RangeError", "too far", "FAR"]);
    expect(tries).toBe(1);
  });

  test("throws the original error in the first attempt", async () => {
    const error = new Error("mine");
    const conversation = new Conversation().addMessage("go");
    const work = (ctx: Ctx): Promise<unknown> =>
      ctx.step("load", () => Promise.reject(error)).catch(caught => caught === error);
    expect(await attempt(conversation, work)).toBe(true);
  });

  test("that was aborted is not recorded, and none is started after an abort", async () => {
    const conversation = new Conversation().addMessage("go");
    let begun = 0;
    const work = async (ctx: Ctx): Promise<void> => {
      const step = (): Promise<never> =>
        ctx.step("wait", ({ signal }) => {
          begun += 1;
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          });
        });
      const waiting = step();
      while (begun === 0) await Promise.resolve();
      conversation.abort.abort(new Error("the run was stopped"));
      await expect(waiting).rejects.toThrow("the run was stopped");
      await expect(step()).rejects.toThrow("the run was stopped");
    };
    await attempt(conversation, work);
    expect([begun, conversation.steps]).toEqual([1, []]);
  });

  test("resolves with a copy of the record: undefined is null, and undefined members are left out", async () => {
    const conversation = new Conversation().addMessage("go");
    const shared = { a: 1, b: undefined };
    const [nothing, copy] = await attempt(conversation, async ctx => [
      await ctx.step("nothing", () => {}),
      await ctx.step("object", () => shared),
    ]);
    shared.a = 2;
    expect(nothing).toBeNull();
    expect(copy).toStrictEqual({ a: 1 });
  });

  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ["a date", { when: [new Date(0)] }, /result\.when\[0\] is an object of the class Date/],
    ["a map", new Map(), /result is an object of the class Map/],
    ["a function", { f: () => 1 }, /result\.f is a function/],
    ["a bigint", 1n, /result is the bigint 1/],
    ["no number", [Number.NaN], /result\[0\] is NaN/],
    ["nothing in a list", [undefined], /result\[0\] is undefined/],
    ["an object of a class", new (class Invoice {})(), /result is an object of the class Invoice/],
    ["something that writes itself", { toJSON: () => 1 }, /result\.toJSON is a function/],
  ];
  test.each(wrong)("must have a JSON result: not %s", async (_what, value, words) => {
    const conversation = new Conversation().addMessage("go");
    const error = await attempt(conversation, ctx => ctx.step("make", () => value).catch(one => one));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(words);
    expect((error as Error).message).toContain('The result of the step "make" must be JSON');
  });

  test("throws when its result is nested too deeply, or has a cycle", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const conversation = new Conversation().addMessage("go");
    await expect(attempt(conversation, ctx => ctx.step("make", () => circle))).rejects.toThrow(/levels deep/);
  });

  test("cannot be nested; ctx.now inside of it is part of it", async () => {
    const conversation = new Conversation().addMessage("go");
    const nested = attempt(conversation, ctx => ctx.step("outer", () => ctx.step("inner", () => 1)));
    await expect(nested).rejects.toThrow('The step "inner" was started inside the step "outer"');
    conversation.addMessage("again");
    const inside = await attempt(conversation, ctx =>
      ctx.step("time", async () => [await ctx.now(), await ctx.random(), await ctx.sleep(1)].length),
    );
    expect(inside).toBe(3);
    expect(conversation.steps.map(note => note.kind)).toEqual(["step"]);
  });

  test("needs a name and a function", async () => {
    const conversation = new Conversation().addMessage("go");
    for (const name of ["", 7, "x".repeat(LIMITS.idCharsMax + 1)])
      await expect(attempt(conversation, ctx => ctx.step(name as string, () => 1))).rejects.toThrow(
        /needs a name/,
      );
    await expect(attempt(conversation, ctx => ctx.step("x", 1 as never))).rejects.toThrow(/needs a function/);
  });
});

describe("time and random numbers", () => {
  test("are the same in a later attempt, each call by its order", async () => {
    const conversation = new Conversation().addMessage("go");
    const work = async (ctx: Ctx): Promise<number[]> => {
      const first = [await ctx.now(), await ctx.random()];
      conversation.now += 7;
      return [...first, await ctx.now(), await ctx.random()];
    };
    const first = await attempt(conversation, work);
    expect(first).toEqual([1_000, 0, 1_007, 0.007]);
    expect(await attempt(conversation, work)).toEqual(first);
  });

  test("a sleep ends at its original time in a later attempt", async () => {
    const conversation = new Conversation().addMessage("go");
    const begun = performance.now();
    await attempt(conversation, ctx => ctx.sleep(60));
    expect(performance.now() - begun).toBeGreaterThan(50);
    expect(conversation.steps).toEqual([{ kind: "sleep", name: "60", nth: 1, value: 1_060 }]);
    conversation.now += 1_000;
    // Nothing is left of it: it does not even wait for the shortest timer.
    const later = new Promise(resolve => setTimeout(resolve, 1, "a timer"));
    const awake = attempt(conversation, ctx => ctx.sleep(60)).then(() => "the sleep");
    expect(await Promise.race([awake, later])).toBe("the sleep");
  });

  test("a sleep ends when the run is aborted, and rejects invalid times", async () => {
    const conversation = new Conversation().addMessage("go");
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, "1" as never])
      await expect(attempt(conversation, ctx => ctx.sleep(ms))).rejects.toThrow(
        /takes a non-negative number of milliseconds/,
      );
    const asleep = attempt(conversation, ctx => ctx.sleep(2 ** 40));
    setTimeout(() => conversation.abort.abort(new Error("the run was stopped")), 5);
    await expect(asleep).rejects.toThrow("the run was stopped");
  });
});

test("the recorded methods can be destructured from ctx, and incoming messages are available", async () => {
  const conversation = new Conversation().addMessage("go").addIncoming("and this").addIncoming("and that");
  const heard: string[] = [];
  await attempt(conversation, async ({ step, incoming }) => {
    await step("a", () => 1);
    for await (const message of incoming) heard.push((message.parts[0] as { text: string }).text);
  });
  expect(heard).toEqual(["and this", "and that"]);
});
