import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { adminGet } from "../support/admin-client.ts";
import { endChildren } from "../support/child.ts";
import { openStream, rpc, type SseEvent, sendParams, until } from "../support/client.ts";
import { collect, RestartableServer } from "../support/restartable-server.ts";
import { foldText, stateOf, taskOf, textOf } from "../support/wire.ts";

/** An agent that calls another one of the same server, which is killed at each point of the call. SQLite and Postgres. */

let on: RestartableServer;
beforeEach(() => {
  on = new RestartableServer();
});
afterEach(async () => {
  await endChildren();
  on.remove();
});

const AGENTS = `
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";

const mark = word => appendFileSync(join(import.meta.dirname, "trail"), word + "\\n");
const gate = async name => { while (!existsSync(join(import.meta.dirname, name))) await sleep(5); };

export const chief = agent({
  name: "chief",
  attempts: 9,
  async *run(task, ctx) {
    mark("chief");
    const call = ctx.call.stream("critic", task.text);
    for await (const step of call) yield ctx.text(step.text);
    const reply = await call.result;
    mark("answered");
    await gate("after");
    if (reply.state === "input-required") yield ctx.text((await ctx.call.answer(reply, "this one")).text);
    yield ctx.text("end");
  },
});
export const critic = agent({
  name: "critic",
  attempts: 9,
  async *run(task, ctx) {
    mark("critic " + task.turn);
    if (task.turn > 1) return yield ctx.text(" You chose " + task.text + " ");
    yield ctx.text(await ctx.step("begin", () => "one "));
    await ctx.step("think", async () => { mark("in think"); await gate("think"); });
    yield ctx.text("two ");
    ctx.usage({ tokens: 3 });
    if (task.text === "ask") yield ctx.ask("Which one?");
  },
});
`;
const start = (): Promise<void> => {
  on.use(folder => {
    writeFileSync(join(folder, "agents.ts"), AGENTS);
    return join(folder, "agents.ts");
  });
  return on.start();
};
const tasksOf = async (agent: string): Promise<readonly { readonly id: string }[]> =>
  (await rpc(`${on.url}/agents/${agent}`, "ListTasks", {})).body.result.tasks;

/** Kills while the called agent works, and after it has answered. */
async function killTwice(text: string): Promise<{ id: string; seen: readonly SseEvent[] }> {
  await start();
  const stream = await openStream(`${on.url}/agents/chief`, "SendStreamingMessage", sendParams(text));
  const first = (await stream.next()) as SseEvent;
  const { id } = first.data.result.task;
  const before = collect(stream);
  await on.untilTrail("in think");
  await until(() => foldText(before.events) === "one ");
  await on.server.kill();
  await before.broken;
  await on.start();
  const seen = [first, ...before.events];
  const between = collect(await on.resume(id, seen.at(-1)?.id as string));
  on.open("think");
  await on.untilTrail("answered");
  await until(() => foldText([...seen, ...between.events]) === "one two ");
  await on.server.kill();
  await between.broken;
  seen.push(...between.events);
  on.open("after");
  await on.start();
  seen.push(...(await on.readEvents(id, seen.at(-1)?.id as string)));
  return { id, seen };
}

test("a killed call is resumed: the message is sent once, and nothing is lost or repeated", async () => {
  const { id, seen } = await killTwice("go");
  expect(foldText(seen)).toBe("one two end");
  expect(textOf(await on.untilState(id, "completed"))).toBe("one two end");
  const called = await tasksOf("critic");
  expect(called).toHaveLength(1);
  const critic = (await rpc(`${on.url}/agents/critic`, "GetTask", { id: called[0]?.id })).body;
  expect([stateOf(critic), textOf(critic), taskOf(critic).history.length]).toEqual([
    "completed",
    "one two ",
    1,
  ]);
  // The run that was killed in its step ran again, and the one that had ended did not.
  expect(on.trail().filter(word => word.startsWith("critic"))).toEqual(["critic 1", "critic 1"]);
  const { json } = await adminGet(on.url, `/tasks/${id}`);
  expect(json.task.usage).toEqual({ tokens: 3 });
});

test("an answer to the called agent survives, too", async () => {
  const { id } = await killTwice("ask");
  expect(textOf(await on.untilState(id, "completed"))).toBe("one two  You chose this one end");
  const [called, ...others] = await tasksOf("critic");
  expect(others).toEqual([]);
  const critic = (await rpc(`${on.url}/agents/critic`, "GetTask", { id: called?.id })).body;
  expect(taskOf(critic).history.filter((one: { role: string }) => one.role === "ROLE_USER")).toHaveLength(2);
});
