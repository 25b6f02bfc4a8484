/** ADK for Python as a client: which cards it takes, and what it keeps of a streamed turn. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { findPort } from "../support/documents/shell.ts";
import { serve, type TestServer } from "../support/server.ts";
import { installPython } from "./python.ts";

const python = installPython("adk", ["google-adk[a2a]==2.13.0"]) as string;

const AGENTS: readonly AgentDefinition[] = [
  {
    name: "plain",
    async *run(task, ctx) {
      yield ctx.text("You said ");
      yield ctx.text(task.text);
    },
  },
  { name: "asking", run: (task, ctx) => (task.turn === 1 ? ctx.ask("Which one?") : `Took ${task.text}`) },
];

/** Prints the events of a session after each of these messages: text, context and error. */
const TALK = `
import asyncio, json, sys
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

async def main(card, *texts):
    agent = RemoteA2aAgent(name="remote", description="A remote agent", agent_card=card)
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    for text in texts:
        content = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=content):
            pass
    session = await runner.session_service.get_session(app_name="app", user_id="user", session_id=session.id)
    print(json.dumps([
        {
            "text": "".join(part.text or "" for part in event.content.parts or []) if event.content else "",
            "context": (event.custom_metadata or {}).get("a2a:context_id"),
            "error": event.error_message,
        }
        for event in session.events if event.author != "user"
    ]))

asyncio.run(main(*sys.argv[1:]))
`;
interface Kept {
  readonly text: string;
  readonly context: string | null;
  readonly error: string | null;
}
async function talk(card: string, ...texts: readonly string[]): Promise<readonly Kept[]> {
  const { stdout } = await promisify(execFile)(python, ["-W", "ignore", "-c", TALK, card, ...texts]);
  return JSON.parse(stdout.trim().split("\n").at(-1) as string);
}
const CARD = "/.well-known/agent-card.json";

describe.skipIf(python === undefined)("google-adk 2.13.0 for Python", () => {
  let server: TestServer;
  let named: TestServer;
  beforeAll(async () => {
    server = await serve(AGENTS);
    const port = await findPort();
    named = await serve(AGENTS, { port, publicUrl: `http://127.0.0.1:${port}` });
  });
  afterAll(() => Promise.all([server.stop(), named.stop()]));

  it("keeps the answers of streamed turns and their context, by a card without a gRPC address", async () => {
    for (const card of [`${server.url}/a2a/plain${CARD}`, `${named.url}/agents/plain${CARD}`]) {
      const kept = await talk(card, "one", "two");
      expect(kept.map(({ text }) => text).filter(text => text)).toEqual(["You said one", "You said two"]);
      expect(new Set(kept.map(({ context }) => context)).size).toBe(1);
    }
  });

  it("answers a question", async () => {
    const kept = await talk(`${server.url}/a2a/asking${CARD}`, "begin", "the red one");
    expect(kept.map(({ text }) => text).filter(text => text)).toEqual(["Which one?", "Took the red one"]);
  });

  it("refuses a card with the address of gRPC in the form of the specification, host and port", async () => {
    const [{ error } = { error: "" }] = await talk(`${server.url}/agents/plain${CARD}`, "one");
    expect(error).toContain(`must use https, or http on a loopback host: ${new URL(server.url).host}`);
  });
});
