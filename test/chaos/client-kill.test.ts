import { afterEach, beforeEach, expect, it } from "vitest";
import { connect, replyText, type TaskUpdate, textOf } from "../../src/client/index.ts";
import { endChildren } from "../support/child.ts";
import { RestartableServer } from "../support/restartable-server.ts";

/** `dragoman/client` reads a stream while its server is killed and restarted. */

let there: RestartableServer;
beforeEach(() => {
  there = new RestartableServer();
});
afterEach(async () => {
  await endChildren();
  there.remove();
});

const WORDS = Array.from({ length: 30 }, (_, n) => `word${n} `);
/** Waits at two places; a step is not repeated after a crash. */
const BODY = `
    for (let n = 0; n < 30; n++) {
      await ctx.step("word " + n, () => mark("word" + n));
      yield ctx.text("word" + n + " ");
      if (n === 9) await gate("first");
      if (n === 19) await gate("second");
    }`;

const KILLS = [
  ["word9 ", "first"],
  ["word19 ", "second"],
] as const;

it.each([
  ["v1", "JSONRPC"],
  ["v1", "HTTP+JSON"],
  ["v0.3", "JSONRPC"],
] as const)("in %s over %s, two kills lose and repeat no word", async (dialect, transport) => {
  await there.start(BODY, { onCrash: "resume" });
  const agent = await connect(there.url, { dialect, transport, retryDelaysMs: Array(60).fill(500) });
  const kills = [...KILLS];
  let text = "";
  let last: TaskUpdate | undefined;
  for await (const update of agent.stream("go")) {
    last = update;
    if (update.kind === "artifact") text += textOf(update.artifact.parts);
    const [word, gate] = kills[0] ?? [];
    if (word === undefined || gate === undefined || !text.endsWith(word)) continue;
    kills.shift();
    await there.server.kill();
    there.open(gate);
    await there.start();
  }
  expect(kills).toEqual([]);
  expect(text).toBe(WORDS.join(""));
  expect(last && [last.task.state, replyText(last.task)]).toEqual(["completed", WORDS.join("")]);
  expect(there.trail()).toHaveLength(30);
  agent.close();
});

it("a message that is sent while the server is down arrives once, and its task is found after another restart", async () => {
  await there.start(`mark(task.text); yield ctx.text("You said: " + task.text);`);
  const agent = await connect(there.url, { retryDelaysMs: Array(60).fill(500) });
  await there.server.kill();
  const sending = agent.send("hello");
  await there.start();
  const sent = await sending;
  expect([sent.state, replyText(sent), there.trail()]).toEqual(["completed", "You said: hello", ["hello"]]);
  await there.server.kill();
  await there.start();
  const updates: TaskUpdate[] = [];
  for await (const update of agent.task(sent.id).tail()) updates.push(update);
  expect(updates.at(-1)?.task).toMatchObject({ id: sent.id, state: "completed", artifacts: sent.artifacts });
  agent.close();
});
