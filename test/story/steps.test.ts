import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import {
  createTestServer,
  type TestServer,
  type TestServerOptions,
  type TestTask,
  taskMatchers,
} from "../../src/testing/index.ts";
import { endChildren } from "../support/child.ts";
import { openStream, type SseEvent, sendParams, until } from "../support/client.ts";
import { createGate } from "../support/gate.ts";
import { collect, RestartableServer } from "../support/restartable-server.ts";
import "../support/task-matchers.ts";
import { foldText, idsOf, isAscending, stateOf, summaryOf, textOf } from "../support/wire.ts";

expect.extend(taskMatchers);

let on: RestartableServer;
beforeEach(() => {
  on = new RestartableServer();
});
afterEach(async () => {
  await endChildren();
  on.remove();
});

/** Three steps with text, progress, data and a file around them; each can be held from outside. */
const WORK = `
    yield ctx.status("working on " + task.text);
    yield ctx.text("begin ");
    for (const name of ["a", "b", "c"]) {
      const made = await ctx.step("make " + name, async () => {
        mark("in " + name);
        await gate(name);
        return name.toUpperCase();
      });
      yield ctx.text(made + " ");
      yield ctx.data({ made });
      yield ctx.status("made " + made);
      mark("after " + name);
      await gate("after-" + name);
    }
    yield ctx.file({ name: "all.txt", bytes: "QUJD" });
    yield ctx.text("end");`;
const openAll = (): void => on.open("a", "b", "c", "after-a", "after-b", "after-c");

/** The events, without times and ids; another attempt begins with the status as it was. */
function summaries(events: readonly SseEvent[]): unknown[] {
  let status = "";
  return events.flatMap((event): unknown[] => {
    const { what, text, append } = summaryOf(event);
    const artifact = event.data.result.artifactUpdate?.artifact;
    if (artifact) return [[what, append, artifact.artifactId, artifact.parts, artifact.metadata]];
    const before = status;
    status = `${what} ${text}`;
    return status === before ? [] : [status];
  });
}
/** The text of a reader that folds the chunks. */
const wordsIn = (events: readonly SseEvent[]): string =>
  foldText(events.filter(({ data }) => data.result.artifactUpdate?.artifact.artifactId === "response"));

test("a step is run once, unless the kill interrupted it; readers get the same as without a kill", async () => {
  await on.start(WORK);
  openAll();
  const calm = await on.begin("calm");
  await on.untilState(calm, "completed");
  const whole = summaries(await on.readEvents(calm));
  on.remove();
  await on.server.kill();

  on = new RestartableServer();
  await on.start(WORK, { attempts: 4 });
  const stream = await openStream(on.url, "SendStreamingMessage", sendParams("calm"));
  const first = (await stream.next()) as SseEvent;
  const { id } = first.data.result.task;
  const seen = [first];
  on.open("a", "after-a");
  for (const kill of ["in b", "after b", "in c"]) {
    const reader = collect(seen.length === 1 ? stream : await on.resume(id, seen.at(-1)?.id as string));
    await on.untilTrail(kill);
    await until(() => wordsIn([...seen, ...reader.events]).includes(kill === "in b" ? "A" : "B"));
    await on.server.kill();
    await reader.broken;
    seen.push(...reader.events);
    on.open("b");
    if (kill === "after b") on.open("after-b");
    await on.start();
  }
  openAll();
  seen.push(...(await on.readEvents(id, seen.at(-1)?.id)));

  expect(on.trail()).toEqual([
    ...["in a", "after a", "in b"],
    ...["after a", "in b", "after b"],
    ...["after a", "after b", "in c"],
    ...["after a", "after b", "in c", "after c"],
  ]);
  const log = await on.readEvents(id);
  expect(isAscending(idsOf(seen))).toBe(true);
  expect(idsOf(seen.slice(1))).toEqual(idsOf(log).filter(one => one > Number(first.id)));
  expect(summaries(log)).toEqual(whole);
  expect([stateOf(await on.get(id)), textOf(await on.get(id))]).toEqual(["completed", "begin A B C end"]);
  expect(wordsIn(seen)).toBe("begin A B C end");
});

test("a server that is stopped gracefully releases the run, and no step is repeated", async () => {
  await on.start(WORK);
  on.open("a");
  const id = await on.begin("job");
  await on.untilTrail("after a");
  await on.server.stop();
  await on.start();
  openAll();
  expect(textOf(await on.untilState(id, "completed"))).toBe("begin A B C end");
  expect(on.trail().filter(word => word.startsWith("in "))).toEqual(["in a", "in b", "in c"]);
});

/** The same agents in the process of the test: its crashes take no time, and neither do sleeps. */

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
async function serve(run: AgentDefinition["run"], options?: TestServerOptions): Promise<TestServer> {
  const server = await createTestServer(agent({ name: "worker", run }), options);
  opened.push(server.close);
  return server;
}
/** What a run did outside of the log. */
let trail: string[] = [];
beforeEach(() => {
  trail = [];
});
const artifactEvents = (task: TestTask) =>
  task.log.flatMap(({ event }) => (event.type === "artifact" ? [event] : []));

test("parallel steps: finished ones stay finished, the others are repeated, names may repeat", async () => {
  const gates = { "1": createGate(), "4": createGate() };
  const server = await serve(async function* (_task, ctx) {
    const make = (name: string, key: string): Promise<string> =>
      ctx.step(name, async () => {
        trail.push(key);
        await gates[key as keyof typeof gates]?.opened;
        return key;
      });
    const made = await Promise.all([make("x", "1"), make("x", "2"), make("y", "3"), make("x", "4")]);
    const more = await Promise.all(made.map(async key => `${await make(`more ${key}`, `${key}+`)}!`));
    yield ctx.text([...made, ...more].join(" "));
  });
  const task = await (await server.start("go")).until(({ steps }) => steps.length === 2);
  await server.crash();
  gates["1"].open();
  gates["4"].open();
  expect(await task.settled()).toComplete("1 2 3 4 1+! 2+! 3+! 4+!");
  expect(trail.toSorted()).toEqual(["1", "1", "1+", "2", "2+", "3", "3+", "4", "4", "4+"]);
});

test("a step that threw and was caught throws again: the run takes the same branch", async () => {
  const server = await serve(async function* (_task, ctx) {
    let loaded: string | undefined;
    for (const from of ["a", "b", "c"]) {
      const load = (): string => {
        trail.push(from);
        if (from !== "c") throw new Error(`no ${from}`);
        return from;
      };
      const reasons: string[] = [];
      loaded ??= await ctx.step("load", load).catch((error: Error) => void reasons.push(error.message));
      for (const reason of reasons) yield ctx.text(`${reason}; `);
    }
    yield ctx.text(`loaded ${loaded}`);
    await ctx.step("end", () => trail.push("end"));
  });
  void server.crashAt("end");
  expect(await server.send("go")).toComplete("no a; no b; loaded c");
  expect(trail).toEqual(["a", "b", "c", "end", "end"]);
});

test("a sleep continues over a restart, and times and random numbers stay the same", async () => {
  const server = await serve(
    async function* (_task, ctx) {
      trail.push([await ctx.now(), await ctx.random()].join(" "));
      const nap = ctx.sleep(3_000).then(() => "rested");
      yield ctx.text(await Promise.race([nap, ctx.sleep(3_600_000).then(() => "tired")]));
    },
    { skipsTime: false, startAt: 0 },
  );
  const task = await (await server.start("go")).until(({ steps }) => steps.length === 4);
  await server.clock.advance(2_000);
  await server.crash();
  await server.clock.advance(999);
  expect(await task.read()).toBeInState("working");
  await server.clock.advance(1);
  expect(await task.settled()).toComplete("rested");
  expect([trail.length, trail[1]]).toEqual([2, trail[0]]);
});

describe("code that was changed between two attempts", () => {
  interface Words {
    readonly before?: string;
    readonly step?: string | null;
    readonly after?: string;
    readonly end?: string;
  }

  /** The first attempt says "Hello world " around a step; the second one does what the test wants. */
  async function change(second: Words): Promise<{ readonly task: TestTask; readonly log: string }> {
    const server = await serve(async function* (_task, ctx) {
      const { before, step, after, end } = {
        ...{ before: "Hello ", step: "greet", after: "world ", end: "" },
        ...(ctx.attempt > 1 ? second : {}),
      };
      yield ctx.text(before);
      if (step !== null) await ctx.step(step, () => trail.push(step));
      yield ctx.text(after);
      if (ctx.attempt === 1) await new Promise(() => {});
      yield ctx.text(end);
    });
    const begun = await (await server.start("go")).until(({ text }) => text === "Hello world ");
    await server.crash();
    const task = await begun.settled();
    return {
      task,
      log: JSON.stringify(server.log.map(({ facts }) => (facts as { err?: Error }).err?.message)),
    };
  }

  const broken: readonly (readonly [string, Words, RegExp])[] = [
    ["a step has another name", { step: "welcome" }, /step \\"greet\\".*began the step \\"welcome\\"/],
    ["a step was removed", { step: null }, /step \\"greet\\".*it ended/],
    ["the text before a step differs", { before: "Welcome " }, /emitted something else for the artifact/],
  ];
  test.each(broken)(
    "(%s) fails the task with that reason, and no new step is run",
    async (_what, words, reason) => {
      const { task, log } = await change(words);
      expect(task).toBeInState("failed");
      expect(task.statusText).toMatch(
        /cannot be resumed: the agent no longer does what it did before\..* log under \S+\.$/,
      );
      expect(log).toMatch(reason);
      expect(trail).toEqual(["greet"]);
    },
  );

  const fine: readonly (readonly [string, Words, string, number | undefined])[] = [
    ["it has more text", { end: "again" }, "Hello world again", undefined],
    ["the text after the last step differs", { after: "you " }, "Hello you ", 2],
    ["the text after the last step is shorter", { after: "w" }, "Hello w", 2],
  ];
  test.each(fine)(
    "(%s) continues; different output is replaced and marked",
    async (_what, words, text, mark) => {
      const { task } = await change(words);
      expect(task).toComplete(text);
      const marks = artifactEvents(task).map(({ metadata }) => metadata?.["dragoman.attempt"]);
      expect(marks.find(one => one !== undefined)).toBe(mark);
    },
  );
});

test("the recorded results of a turn have a maximum size, and the step beyond it throws", async () => {
  const server = await serve(async function* (_task, ctx) {
    let kept = 0;
    try {
      for (;;) kept += (await ctx.step("more", () => "x".repeat(5_000_000))).length;
    } catch (error) {
      yield ctx.text(`${kept}: ${(error as Error).message}`);
    }
  });
  expect(await server.send("go")).toComplete(
    /^15000000: the results of the steps of one turn have at most 16777216 bytes/,
  );
});

test("an attempt without steps starts over: its artifacts replace the old ones, marked", async () => {
  const server = await serve(async function* (_task, ctx) {
    yield ctx.text(ctx.attempt === 1 ? "a long beginning" : "another");
    yield ctx.artifact({ artifactId: "list", parts: "line;", append: true });
    yield ctx.text(" text");
    if (ctx.attempt === 1) await new Promise(() => {});
  });
  const begun = await (await server.start("go")).until(({ text }) => text === "a long beginning textline;");
  await server.crash();
  const task = await begun.settled();
  expect(task).toComplete("another textline;");
  const marks = artifactEvents(task).map(({ artifact, append, metadata }) => [
    artifact.artifactId,
    append === true,
    metadata?.["dragoman.attempt"],
  ]);
  expect(marks).toEqual([
    ["response", false, undefined],
    ["list", true, undefined],
    ["response", true, undefined],
    ["response", false, 2],
    ["list", false, 2],
    ["response", true, undefined],
  ]);
});
