import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endChildren } from "../support/child.ts";
import { openStream, type SseEvent, sendParams, until } from "../support/client.ts";
import { collect, RestartableServer } from "../support/restartable-server.ts";
import { foldText, idsOf, isAscending, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

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

test("parallel steps: finished ones stay finished, the others are repeated, names may repeat", async () => {
  await on.start(`
    const work = key => async () => { mark(key); await gate(key); return key; };
    // A step is over when its result is committed.
    const make = (name, key) => ctx.step(name, work(key)).then(made => (mark("noted " + made), made));
    const made = await Promise.all([make("x", "1"), make("x", "2"), make("y", "3"), make("x", "4")]);
    const more = await Promise.all(made.map(async key => (await make("more " + key, key + "+")) + "!"));
    yield ctx.text([...made, ...more].join(" "));`);
  for (const gate of ["2", "3", "1+", "2+", "3+", "4+"]) on.open(gate);
  const id = await on.begin("go");
  const done = (): string[] => on.trail().filter(word => !word.startsWith("noted"));
  await until(() => done().length === 4 && on.trail().length === 6);
  expect(on.trail()).toEqual(expect.arrayContaining(["noted 2", "noted 3"]));
  await on.server.kill();
  await on.start();
  await until(() => done().length === 6);
  for (const gate of ["1", "4"]) on.open(gate);
  expect(textOf(await on.untilState(id, "completed"))).toBe("1 2 3 4 1+! 2+! 3+! 4+!");
  expect(done().toSorted()).toEqual(["1", "1", "1+", "2", "2+", "3", "3+", "4", "4", "4+"]);
});

test("a step that threw and was caught throws again: the run takes the same branch", async () => {
  await on.start(
    `
    const load = from => ctx.step("load", () => { mark(from); if (from !== "c") throw new Error("no " + from); return from; });
    let loaded;
    for (const from of ["a", "b", "c"]) loaded ??= await load(from).catch(error => void (yieldLater.push(error.message)));
    for (const words of yieldLater) yield ctx.text(words + "; ");
    yield ctx.text("loaded " + loaded);
    mark("done");
    await gate("end");`.replace("const load", "const yieldLater = [];\n    const load"),
  );
  const id = await on.begin("go");
  await on.untilText(id, "no a; no b; loaded c");
  await on.server.kill();
  on.open("end");
  await on.start();
  expect(textOf(await on.untilState(id, "completed"))).toBe("no a; no b; loaded c");
  expect(on.trail()).toEqual(["a", "b", "c", "done", "done"]);
});

test("a sleep continues over a restart, and times and random numbers stay the same", async () => {
  await on.start(`
    mark([await ctx.now(), await ctx.random()].join(" "));
    mark("asleep " + Date.now());
    const nap = ctx.sleep(3_000).then(() => "rested");
    // Notes are committed in order: after this one, so is the end of the sleep.
    await ctx.now();
    mark("noted");
    if (ctx.attempt === 1) await gate("never");
    const first = await Promise.race([nap, sleep(2_000, "tired")]);
    mark("awake " + Date.now());
    yield ctx.text(first);`);
  const id = await on.begin("go");
  await on.untilTrail("noted");
  await on.server.kill();
  await new Promise(resolve => setTimeout(resolve, 3_000));
  await on.start();
  // The sleep has elapsed, and would otherwise be slower than its competitor.
  expect(textOf(await on.untilState(id, "completed"))).toBe("rested");
  const [dice, asleep, , sameDice, , , awake] = on.trail() as string[];
  expect(sameDice).toBe(dice);
  const time = (word: string | undefined): number => Number(word?.split(" ")[1]);
  expect(time(awake) - time(asleep)).toBeGreaterThanOrEqual(2_990);
});

describe("code that was changed between two attempts", () => {
  const BEFORE = `
    yield ctx.text("Hello ");
    await ctx.step("greet", () => mark("greet"));
    yield ctx.text("world ");
    await gate("end");`;

  async function change(body: string): Promise<{ body: object; log: string }> {
    await on.start(BEFORE);
    const id = await on.begin("go");
    await on.untilText(id, "Hello world ");
    await on.server.kill();
    on.write(body);
    on.open("end");
    await on.start();
    return { body: await on.untilState(id, "completed", "failed"), log: on.server.stderr() };
  }

  const broken = [
    [
      "a step has another name",
      BEFORE.replaceAll('"greet"', '"welcome"'),
      /step \\"greet\\".*began the step \\"welcome\\"/,
    ],
    ["a step was removed", BEFORE.replace("await ctx.step", "// "), /step \\"greet\\".*it ended/],
    [
      "the text before a step differs",
      BEFORE.replace("Hello", "Welcome"),
      /emitted something else for the artifact/,
    ],
  ] as const;
  test.each(broken)(
    "(%s) fails the task with that reason, and no new step is run",
    async (_what, after, reason) => {
      const { body, log } = await change(after);
      expect(stateOf(body)).toBe("failed");
      expect(taskOf(body).status.message.parts[0].text).toMatch(
        /cannot be resumed: the agent no longer does what it did before\..* log under \S+\.$/,
      );
      expect(log).toMatch(reason);
      expect(on.trail()).not.toContain("welcome");
    },
  );

  const fine = [
    ["it has more steps and text", `${BEFORE}\n yield ctx.text("again");`, "Hello world again", undefined],
    ["the text after the last step differs", BEFORE.replace("world", "you"), "Hello you ", 2],
    ["the text after the last step is shorter", BEFORE.replace("world ", "w"), "Hello w", 2],
  ] as const;
  test.each(fine)(
    "(%s) continues; different output is replaced and marked",
    async (_what, after, text, mark) => {
      const { body } = await change(after);
      expect([stateOf(body), textOf(body)]).toEqual(["completed", text]);
      const log = await on.readEvents(taskOf(body).id);
      expect(foldText(log)).toBe(text);
      const marks = log.map(({ data }) => data.result.artifactUpdate?.metadata?.["dragoman.attempt"]);
      expect(marks.find(one => one !== undefined)).toBe(mark);
    },
  );
});

test("the recorded results of a turn have a maximum size, and the step beyond it throws", async () => {
  await on.start(`
    let kept = 0;
    try {
      for (;;) kept += (await ctx.step("more", () => "x".repeat(5_000_000))).length;
    } catch (error) {
      yield ctx.text(kept + ": " + error.message);
    }`);
  expect(textOf(await on.send("go"))).toMatch(
    /^15000000: the results of the steps of one turn have at most 16777216 bytes/,
  );
});

test("an attempt without steps starts over: its artifacts replace the old ones, marked", async () => {
  await on.start(`
    yield ctx.text(ctx.attempt === 1 ? "a long beginning" : "another");
    yield ctx.artifact({ artifactId: "list", parts: "line;", append: true });
    yield ctx.text(" text");
    await gate("end");`);
  const id = await on.begin("go");
  await on.untilText(id, "a long beginning textline;");
  await on.server.kill();
  on.open("end");
  await on.start();
  const body = await on.untilState(id, "completed");
  expect(textOf(body)).toBe("another textline;");
  const updates = (await on.readEvents(id)).flatMap(({ data }) => data.result.artifactUpdate ?? []);
  const marks = updates.map(one => [
    one.artifact.artifactId,
    one.append === true,
    one.metadata?.["dragoman.attempt"],
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
