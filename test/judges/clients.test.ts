/** Clients of others, installed on demand, against a started server: what they keep of an answer. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { serve, type TestServer } from "../support/server.ts";
import { installPackages } from "./install.ts";

/** Ends later than its last text, as agents do that wait for a model. */
const run: AgentDefinition["run"] = async function* (task, ctx) {
  yield ctx.text("You said ");
  yield ctx.text(task.text);
  await nextTurn();
  await nextTurn();
};

let server: TestServer;
beforeAll(async () => {
  server = await serve([
    { name: "plain", run },
    { name: "closing", closeArtifacts: true, run },
    { name: "open", closeArtifacts: false, run },
    { name: "asking", run: (task, ctx) => (task.turn === 1 ? ctx.ask("Which one?") : `Took ${task.text}`) },
  ]);
});
afterAll(() => server.stop());

/** Runs a module beside the installed packages and returns the JSON that it prints in its last line. */
async function runModule(
  folder: string,
  name: string,
  text: string,
  ...words: readonly string[]
): Promise<unknown> {
  const file = join(folder, name);
  writeFileSync(file, text);
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...words]);
  return JSON.parse(stdout.trim().split("\n").at(-1) as string);
}

const adk = installPackages("adk", ["@google/adk@2.0.0"]);

/** The events of a session after each of these messages: author, text and context. */
const ADK = `
import { InMemoryRunner, RemoteA2AAgent } from "@google/adk";
const [agentCard, ...texts] = process.argv.slice(2);
const agent = new RemoteA2AAgent({ name: "remote", description: "A remote agent", agentCard });
const runner = new InMemoryRunner({ agent, appName: "app" });
const ids = { appName: "app", userId: "user" };
const { id: sessionId } = await runner.sessionService.createSession(ids);
for (const text of texts)
  for await (const _ of runner.runAsync({ userId: "user", sessionId, newMessage: { role: "user", parts: [{ text }] } }));
const { events } = await runner.sessionService.getSession({ ...ids, sessionId });
const kept = events.filter(event => event.author !== "user");
console.log(JSON.stringify(kept.map(({ content, customMetadata }) => ({
  text: (content?.parts ?? []).map(part => part.text ?? "").join(""),
  context: customMetadata?.["a2a:context_id"],
}))));
`;

interface Kept {
  readonly text: string;
  readonly context: string | undefined;
}

describe.skipIf(adk === undefined)("@google/adk 2.0.0", () => {
  const talk = async (agent: string, ...texts: readonly string[]): Promise<readonly Kept[]> => {
    const card = `${server.url}/agents/${agent}/`;
    return (await runModule(adk as string, "talk.mjs", ADK, card, ...texts)) as readonly Kept[];
  };

  it.each(["plain", "closing"])("keeps the answers of streamed turns and their context: %s", async agent => {
    const kept = await talk(agent, "one", "two");
    expect(kept.map(({ text }) => text)).toEqual(["You said one", "You said two"]);
    expect(kept[0]?.context).toMatch(/^[0-9a-f-]{36}$/);
    expect(kept[1]?.context).toBe(kept[0]?.context);
  });

  it("keeps nothing of an agent that leaves its artifacts open: the reason for the last chunk", async () => {
    expect(await talk("open", "one", "two")).toEqual([]);
  });

  it("answers a question by its context", async () => {
    const kept = await talk("asking", "begin", "the red one");
    expect(kept.map(({ text }) => text)).toEqual(["Which one?", "Took the red one"]);
  });
});
