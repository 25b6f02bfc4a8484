import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import { DIALECT_NAMES } from "../../src/client/protocols.ts";
import { createTestServer, type TestServerOptions, taskMatchers } from "../../src/testing/index.ts";
import "../support/task-matchers.ts";

expect.extend(taskMatchers);

type Served = Parameters<typeof createTestServer>[0];
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
async function serve(definition: Served, options?: TestServerOptions) {
  const server = await createTestServer(definition, options);
  opened.push(server.close);
  return server;
}

const DAY = 86_400_000;
const NEW_YEAR = Date.UTC(2026, 0, 1);
/** The work that agents did in this process. */
let done: string[] = [];

const shop = agent({
  name: "shop",
  async *run(_task, ctx) {
    for (const name of ["reserve", "charge", "ship"]) {
      await ctx.step(name, () => {
        done.push(name);
        return `${name} `;
      });
      yield ctx.text(`${name} `);
    }
  },
});

describe("a server in the process of a test", () => {
  const hello = agent({ name: "hello", run: task => `Hello, ${task.text}!` });

  it("runs an agent, also if it starts for the second time", async () => {
    expect(await (await serve(hello)).send("Ada")).toComplete("Hello, Ada!");
    expect(await (await serve(hello)).send("Grace")).toComplete(/^Hello/);
  });

  it("starts in less than 50 ms of processor time", async () => {
    const spent: number[] = [];
    for (let i = 0; i < 5; i++) {
      const before = process.cpuUsage();
      await serve(hello);
      const { user, system } = process.cpuUsage(before);
      spent.push((user + system) / 1_000);
    }
    expect(Math.min(...spent)).toBeLessThan(50);
  });

  it("takes a config, and serves every path", async () => {
    const server = await serve({ agents: [shop, agent({ name: "echo", run: task => task.text })] });
    expect(await server.caller({ agent: "echo" }).send("hi")).toComplete("hi");
    const card = await server.fetch("http://localhost/agents/echo/.well-known/agent-card.json");
    expect(await card.json()).toMatchObject({ name: "echo" });
  });

  it("refuses a store of the program, and options that do not exist", async () => {
    const store = () => undefined as never;
    await expect(createTestServer({ agents: [shop], store })).rejects.toThrow("a store of its own");
    await expect(createTestServer({ agents: [shop], prot: 1 } as object)).rejects.toThrow(
      'createTestServer: there is no option "prot"',
    );
  });

  it("makes the same ids and random numbers in every run", async () => {
    const dice = agent({ name: "dice", run: async (_task, ctx) => String(await ctx.random()) });
    const [first, second, third] = [await serve(dice), await serve(dice), await serve(dice, { seed: "3" })];
    const [a, b, c] = [await first.send("x"), await second.send("x"), await third.send("x")];
    expect([a.text === b.text, a.id === b.id, a.text === c.text]).toEqual([true, true, false]);
  });

  it("tells why an agent failed, which its caller is not told", async () => {
    const server = await serve(
      agent({
        name: "broken",
        run() {
          throw new Error("no disk");
        },
      }),
    );
    const task = await server.send("go");
    expect(task).toFail("no disk");
    expect(task.statusText).not.toContain("no disk");
    expect(server.log.map(line => line.text)).toContain("an agent failed");
    expect(() => expect(task).toComplete()).toThrow(/to be completed; the task .* failed with "no disk"/);
  });
});

describe.each(DIALECT_NAMES)("a caller that speaks %s", dialect => {
  const asker = agent({
    name: "asker",
    async *run(task, ctx) {
      if (task.text === "wait") await new Promise(resolve => ctx.signal.addEventListener("abort", resolve));
      if (task.turn === 1 && task.text !== "wait") yield ctx.ask("Which?");
      yield ctx.text(`You chose ${task.text}`);
    },
  });

  it("sends, answers, reads, streams and cancels", async () => {
    const caller = (await serve(asker)).caller({ dialect });
    const asked = await caller.send("go");
    expect(asked).toBeInState("input-required");
    // Arbiter has no way to continue a task.
    if (dialect !== "arbiter") {
      const ended = await asked.answer("blue");
      expect(ended).toComplete("You chose blue");
      expect(await ended.read()).toComplete("You chose blue");
    }
    const begun = await caller.start("wait");
    const canceled = await begun.cancel();
    expect(canceled).toBeInState("canceled");
    const texts: string[] = [];
    for await (const event of caller.stream("again")) texts.push(`${event.kind} ${event.text}`);
    expect(texts.at(-1)).toContain("end");
  });
});

it("a caller with a script has a whole conversation", async () => {
  const quiz = agent({
    name: "quiz",
    run: (task, ctx) => (task.turn < 3 ? ctx.ask(`Question ${task.turn}?`) : `The last answer: ${task.text}`),
  });
  const server = await serve(quiz);
  const task = await server.converse(["go", "one", "two"]);
  expect(task).toComplete("The last answer: two");
  expect(task.history.filter(({ role }) => role === "user")).toHaveLength(3);
  expect(await server.converse(["go", "one"])).toAsk("Question 2?");
  const tooLong = server.converse(["go", "one", "two", "three", "four"]);
  await expect(tooLong).rejects.toThrow("The task is completed after 2 of 4 answers");
});

describe("the clock", () => {
  const patient = agent({
    name: "patient",
    async *run(_task, ctx) {
      yield ctx.text(`${await ctx.now()} `);
      await ctx.sleep(DAY);
      yield ctx.text(`${await ctx.now()}`);
    },
  });

  it("skips a sleep while no run does anything else", async () => {
    const server = await serve(patient);
    expect(await server.send("go")).toComplete(`${NEW_YEAR} ${NEW_YEAR + DAY}`);
    expect(server.clock.now()).toBe(NEW_YEAR + DAY);
  });

  it("moves only when it is told to, if the test wants it so", async () => {
    const server = await serve(patient, { skipsTime: false, startAt: 0 });
    const task = await (await server.start("go")).until(one => one.text !== "");
    await server.clock.advance("23h");
    expect(await task.read()).toBeInState("working");
    await server.clock.advance(DAY / 24);
    expect(await task.settled()).toComplete(`0 ${DAY}`);
    await expect(server.clock.advance("soon")).rejects.toThrow('"soon" is not a duration');
  });

  it("stands still while a step runs, so that a timeout beside it does not win", async () => {
    const racer = agent({
      name: "racer",
      run: (_task, ctx) =>
        Promise.race([
          ctx.step("slow", () => new Promise<string>(resolve => setTimeout(resolve, 20, "the step"))),
          ctx.sleep(60_000).then(() => "the timeout"),
        ]),
    });
    expect(await (await serve(racer)).send("go")).toComplete("the step");
  });

  it("skips a sleep inside a step", async () => {
    const retrying = agent({
      name: "retrying",
      run: (_task, ctx) => ctx.step("retry", () => ctx.sleep(DAY).then(() => "late")),
    });
    const server = await serve(retrying);
    expect(await server.send("go")).toComplete("late");
    expect(server.clock.now()).toBe(NEW_YEAR + DAY);
  });

  it("decides retention", async () => {
    const server = await serve(agent({ name: "brief", retention: { ageMs: DAY }, run: () => "done" }));
    const task = await server.send("go");
    await server.clock.advance("2d");
    await expect(task.read()).rejects.toThrow("Task not found");
  });
});

describe("a crash", () => {
  it.each([
    ["before", ["reserve", "charge", "ship"]],
    ["unrecorded", ["reserve", "charge", "charge", "ship"]],
    ["after", ["reserve", "charge", "ship"]],
  ] as const)("%s a step is recorded: the turn is resumed, no output is repeated", async (when, expected) => {
    done = [];
    const server = await serve(shop);
    const crashed = server.crashAt("charge", { when });
    const task = await server.send("go");
    await crashed;
    expect(task).toComplete("reserve charge ship ");
    expect(done).toEqual(expected);
    expect(task).toHaveSteps(["reserve", "charge", "ship"]);
    expect(task).toHaveAttempts(2);
  });

  it.each(["before", "unrecorded", "after"] as const)(
    "%s any step of an agent has the same result",
    async when => {
      const critic = agent({ name: "critic", run: task => `${task.text}?` });
      const worker = agent({
        name: "worker",
        async *run(_task, ctx) {
          const dice = [await ctx.random(), await ctx.now()];
          for (const word of ["a", "b"]) yield ctx.text(await ctx.step("word", () => word));
          await ctx.sleep(DAY);
          const { text } = await ctx.call("critic", "fine");
          yield ctx.text(` ${text} ${dice.every(one => one > 0)}`);
        },
      });
      const calm = await (await serve([worker, critic])).send("go");
      expect(calm).toComplete("ab fine? true");
      expect(calm.steps.map(({ kind }) => kind)).toEqual([
        "random",
        "now",
        "step",
        "step",
        "sleep",
        "step",
        "step",
      ]);
      for (const step of calm.steps) {
        const server = await serve([worker, critic]);
        const crashed = server.crashAt(step, { when });
        const task = await server.send("go");
        await crashed;
        expect(task).toComplete(calm.text);
        expect(task).toHaveAttempts(2);
      }
    },
  );

  it("does not end a stream, and repeats none of it", async () => {
    const server = await serve(shop);
    void server.crashAt("ship");
    let text = "";
    for await (const event of server.stream("go")) text += event.kind === "artifact" ? event.text : "";
    expect(text).toBe("reserve charge ship ");
  });

  it("during a sleep: the next attempt sleeps for the rest", async () => {
    const sleeper = agent({
      name: "sleeper",
      async *run(_task, ctx) {
        await ctx.sleep(DAY);
        yield ctx.text(`${await ctx.now()}`);
      },
    });
    const server = await serve(sleeper, { skipsTime: false, startAt: 0 });
    const task = await (await server.start("go")).until(one => one.steps.length === 1);
    await server.clock.advance("20h");
    await server.crash();
    await server.clock.advance("4h");
    expect(await task.settled()).toComplete(`${DAY}`);
    expect((await task.read()).attempts).toBe(2);
  });

  it("fences the old attempt: nothing that its code still does is recorded", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let runs = 0;
    const slow = agent({
      name: "slow",
      async *run(_task, ctx) {
        const mine = ++runs;
        yield ctx.text("begun ");
        if (mine === 1) await gate;
        done.push(`run ${mine}`);
        yield ctx.text(`by ${mine}`);
      },
    });
    done = [];
    const server = await serve(slow);
    const task = await (await server.start("go")).until(one => one.text !== "");
    await server.crash();
    const ended = await task.settled();
    open();
    await server.clock.advance(0);
    expect([ended.text, (await task.read()).text]).toEqual(["begun by 2", "begun by 2"]);
    expect(done).toEqual(["run 2", "run 1"]);
  });

  it("keeps tasks, contexts and storage; agents with onCrash: fail do not run again", async () => {
    const counter = agent({
      name: "counter",
      onCrash: "fail",
      async *run(task, ctx) {
        if (task.text === "break") await ctx.step("break", () => "");
        const value = Number((await ctx.storage.get("count")) ?? 0) + 1;
        await ctx.storage.put([{ key: "count", value }]);
        yield ctx.text(String(value));
      },
    });
    const server = await serve(counter);
    const first = await server.send("one");
    void server.crashAt("break");
    expect(await server.send("break", { contextId: first.contextId })).toFail(/does not repeat runs/);
    expect(await server.send("two", { contextId: first.contextId })).toComplete("2");
    expect(await first.read()).toComplete("1");
  });
});
