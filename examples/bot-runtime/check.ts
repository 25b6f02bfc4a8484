import { equal } from "node:assert/strict";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestServer } from "dragoman/testing";
import { runtimeContract } from "dragoman/testing/contracts";
import { type Bot, createBotRuntime } from "./runtime.ts";

/** The behaviour that the contract asks of its agent, as a bot. */
const createTested = (folder: string): Bot => ({
  async *reply(text, { earlier, question, signal }) {
    const note = (line: string) => appendFileSync(join(folder, "trail"), `${line}\n`);
    if (question !== undefined) return yield `You chose ${text}`;
    if (text === "fail") throw new Error("SECRET");
    if (text === "ask") return yield { question: "Which colour?" };
    if (text === "recall") return yield earlier.join(", ") || "nothing";
    if (text === "stream") return yield* ["one ", "two ", "three"];
    if (text === "spend") return yield* [{ tokensRead: 7, tokensWritten: 5 }, "spent"];
    if (text === "wait") {
      yield "waiting";
      await sleep(1e9, undefined, { signal }).catch(() => note("stopped"));
    } else if (text === "work") {
      note("begun");
      yield "before ";
      while (!existsSync(join(folder, "open"))) await sleep(5, undefined, { signal });
      yield "after";
    } else yield "ok";
  },
});

const cases = runtimeContract({
  createAgent: async (folder, more) => ({
    agents: [{ runtime: "bot", name: "tested", ...more }],
    runtimes: { bot: createBotRuntime({ tested: createTested(folder) }) },
  }),
});
for (const { name, run } of cases)
  await run().catch(error => {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  });

/** A bot in a server. */
const greeter: Bot = {
  async *reply(text, { question }) {
    if (question === undefined) return yield { question: "What is your name?" };
    yield `Hello, ${text}!`;
  },
};
await using server = await createTestServer({
  agents: [{ runtime: "bot", name: "greeter" }],
  runtimes: { bot: createBotRuntime({ greeter }) },
});
equal((await server.converse(["hi", "Ada"])).text, "Hello, Ada!");
process.stdout.write("ok\n");
