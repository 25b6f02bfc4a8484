import { afterEach, expect, it } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import type { AgentEvent, AgentRuntime, Turn } from "../../src/ports/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { type RunningServer, startServer } from "../../src/server/create-server.ts";
import { createTestLog, SETTINGS } from "../support/server.ts";

/** Contract violations of a third-party runtime, by the text of the caller's message. */
const VIOLATIONS: Readonly<Record<string, (turn: Turn) => AsyncIterable<AgentEvent>>> = {
  "does not begin": () => {
    throw new Error("no run");
  },
  "is not one": () => ({}) as AsyncIterable<AgentEvent>,
  "throws at once": () => of({ next: () => fail("no word") }),
  "breaks later": () => of({ next: () => Promise.reject(new Error("no word")) }),
  "throws at the abort": () =>
    of({ next: () => Promise.reject(new Error("no word")), return: () => fail("no end") }),
  "says nonsense": () => of({ next: async () => ({ done: false, value: { type: "nonsense" } as never }) }),
};

const of = (events: AsyncIterator<AgentEvent>): AsyncIterable<AgentEvent> => ({
  [Symbol.asyncIterator]: () => events,
});
function fail(why: string): never {
  throw new Error(why);
}

const definition = agent({ name: "odd", description: "Breaks as it is told", run: () => "fine" });
const usual = toAgent(definition);
const runtime: AgentRuntime = {
  name: "odd",
  run(turn) {
    const [part] = turn.message.parts;
    return (VIOLATIONS[part?.kind === "text" ? part.text : ""] ?? usual.runtime.run)(turn);
  },
};

let server: RunningServer | undefined;
afterEach(async () => server?.stop());

it("a runtime that violates its contract fails its own task, without internals in the message, and affects no other task", async () => {
  const agents = [{ ...usual, runtime }];
  server = await startServer({ settings: SETTINGS, agents, defaultAgent: usual.name, log: createTestLog() });
  for (const violation of Object.keys(VIOLATIONS)) {
    const failed = await send(server, violation);
    expect([violation, failed.status.state]).toEqual([violation, "TASK_STATE_FAILED"]);
    expect(JSON.stringify(failed)).not.toMatch(/no run|no word|no end/);
    expect((await send(server, "hello")).status.state).toBe("TASK_STATE_COMPLETED");
  }
});

interface Reply {
  readonly result: { readonly task: { readonly status: { readonly state: string } } };
}

async function send({ url }: RunningServer, text: string) {
  const message = { messageId: text, role: "ROLE_USER", parts: [{ text }] };
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  return ((await response.json()) as Reply).result.task;
}
