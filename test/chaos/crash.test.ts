import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endChildren } from "../support/child.ts";
import { rpc, until } from "../support/client.ts";
import { RestartableServer } from "../support/restartable-server.ts";
import { partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

let on: RestartableServer;
beforeEach(() => {
  on = new RestartableServer();
});
afterEach(async () => {
  await endChildren();
  on.remove();
});

/** Runs until the test opens a gate; writes the message and the attempt to the trail, and then replies. */
const WORK = `
    mark(task.text + " " + ctx.attempt);
    yield ctx.text("attempt " + ctx.attempt + " at " + task.text);
    await gate("end");
    yield ctx.text(", done");`;

const messageText = (body: object): string => partsText(taskOf(body).status.message?.parts);
const QUESTION = "The run was interrupted, and its work may already be done. Run it again?";

/** A task whose run was interrupted, in a server that was started again. */
async function cutOff(options: object, how: "kill" | "stop" = "kill"): Promise<string> {
  await on.start(WORK, options);
  const id = await on.begin("the job");
  await on.untilText(id, "attempt 1 at the job");
  await on.server[how]();
  await on.start();
  return id;
}

for (const how of ["kill", "stop"] as const) {
  test(`onCrash "fail": after a ${how} the task has failed with that reason, and is not run again`, async () => {
    const id = await cutOff({ onCrash: "fail" }, how);
    const body = await on.untilState(id, "failed");
    expect(messageText(body)).toBe("The run was interrupted, and this agent does not repeat runs");
    expect(textOf(body)).toBe("attempt 1 at the job");
    expect(on.trail()).toEqual(["the job 1"]);
  });

  test(`onCrash "ask": after a ${how} the caller is asked, and a yes runs the same turn again`, async () => {
    const id = await cutOff({ onCrash: "ask" }, how);
    const asked = await on.untilState(id, "input-required");
    expect(messageText(asked)).toBe(QUESTION);
    expect(taskOf(asked).status.message.parts[1]).toMatchObject({
      data: { options: ["run-again", "cancel"] },
    });
    expect(on.trail()).toEqual(["the job 1"]);
    on.open("end");
    const body = await on.send("Yes", { taskId: id });
    expect([stateOf(body), textOf(body)]).toEqual([
      "completed",
      expect.stringMatching(/^attempt [23] at the job, done$/),
    ]);
    expect(on.trail()).toEqual(["the job 1", expect.stringMatching(/^the job [23]$/)]);
    const texts = taskOf(body).history.map((one: { parts: [] }) => partsText(one.parts));
    expect(texts).toEqual(["the job", QUESTION, "Yes"]);
  });
}

describe('onCrash "ask"', () => {
  test("a no cancels the task, without running anything", async () => {
    const id = await cutOff({ onCrash: "ask" });
    await on.untilState(id, "input-required");
    expect(stateOf(await on.send("no", { taskId: id }))).toBe("canceled");
    expect(on.trail()).toEqual(["the job 1"]);
  });

  test("an answer that is neither leaves the question open, in every dialect; a cancel ends it, too", async () => {
    const id = await cutOff({ onCrash: "ask" });
    await on.untilState(id, "input-required");
    const unclear = await on.send("What happened?", { taskId: id });
    expect([stateOf(unclear), messageText(unclear)]).toEqual(["input-required", QUESTION]);
    const message = { kind: "message", messageId: "m", role: "user", taskId: id };
    const parts = [{ kind: "data", data: { answer: "perhaps" } }];
    const older = await rpc(on.url, "message/send", { message: { ...message, parts } });
    expect(stateOf(older.body)).toBe("input-required");
    expect(on.trail()).toEqual(["the job 1"]);
    const { body } = await rpc(on.url, "CancelTask", { id });
    expect(stateOf(body)).toBe("canceled");
  });

  test("the question survives a restart; each crash asks again, up to the maximum of attempts", async () => {
    const id = await cutOff({ onCrash: "ask", attempts: 2 });
    await on.untilState(id, "input-required");
    await on.server.kill();
    await on.start();
    expect(messageText(await on.get(id))).toBe(QUESTION);
    await on.begin("true", { taskId: id });
    await until(async () => /^attempt [23] /.test(textOf(await on.get(id))));
    await on.server.kill();
    await on.start();
    expect(messageText(await on.untilState(id, "failed"))).toMatch(/started 2 times/);
  });

  test("finished steps are not repeated when the turn is run again", async () => {
    await on.start(
      `
    await ctx.step("pay", () => mark("paid"));
    // A step is over when its result is committed.
    mark("here");
    await gate("end");
    return "paid";`,
      { onCrash: "ask" },
    );
    const id = await on.begin("pay");
    await on.untilTrail("here");
    await on.server.kill();
    await on.start();
    await on.untilState(id, "input-required");
    on.open("end");
    expect(textOf(await on.send("run-again", { taskId: id }))).toBe("paid");
    expect(on.trail()).toEqual(["paid", "here", "here"]);
  });
});

test("attempts: an agent declares how often it is run, and the failed task has the number of attempts", async () => {
  await on.start(WORK, { attempts: 2 });
  const id = await on.begin("poison");
  for (const attempt of [1, 2]) {
    await on.untilText(id, `attempt ${attempt} at poison`);
    await on.server.kill();
    await on.start();
  }
  expect(messageText(await on.untilState(id, "failed"))).toBe(
    "The run was started 2 times and was interrupted each time",
  );
  expect(on.trail()).toEqual(["poison 1", "poison 2"]);
});

test("after a restart no task is left running without a run; the tasks of a removed agent wait for it", async () => {
  await on.start(WORK);
  const ids = [await on.begin("one"), await on.begin("two")];
  await on.untilText(ids[0] as string, "attempt 1 at one");
  await on.untilText(ids[1] as string, "attempt 1 at two");
  await on.server.kill();
  const agent = on.rename("other");
  await on.start();
  await until(() => on.server.stderr().includes("unfinished tasks belong to an agent that is not served"));
  // A run that began later has looked for due tasks, the older ones first.
  await on.untilText(await on.begin("three"), "attempt 1 at three");
  expect(on.trail().toSorted()).toEqual(["one 1", "three 1", "two 1"]);
  await on.server.kill();
  on.rename(agent);
  on.open("end");
  await on.start();
  for (const id of ids) expect(textOf(await on.untilState(id, "completed"))).toMatch(/, done$/);
  expect(on.trail().slice(3).toSorted()).toEqual(["one 2", "two 2"]);
});
