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
    { name: "replying", replies: "message", run: (task, ctx) => ctx.reply(`re: ${task.text}`) },
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

interface Turns {
  readonly sent: string;
  readonly streamed: string;
  readonly asked: string;
  readonly answered: string;
}
const TURNS: Turns = {
  sent: "You said one",
  streamed: "You said two",
  asked: "Which one?",
  answered: "Took red",
};

/** A send, a stream, and a question with its answer, as a user of the package writes them. */
async function runTurns(folder: string | undefined, text: string): Promise<Turns> {
  return (await runModule(folder as string, "turns.mjs", text, `${server.url}/agents`)) as Turns;
}

const provider = installPackages("a2a-ai-provider", ["a2a-ai-provider@0.5.0-alpha.1", "ai@6.0.326"]);
describe.skipIf(provider === undefined)("a2a-ai-provider 0.5.0-alpha.1", () => {
  it("generates, streams, and answers a question by its context", async () => {
    const turns = await runTurns(
      provider,
      `
import { a2a } from "a2a-ai-provider";
import { generateText, streamText } from "ai";
const model = name => a2a(\`\${process.argv[2]}/\${name}/.well-known/agent-card.json\`);
const { text: sent } = await generateText({ model: model("plain"), prompt: "one" });
const streamed = await streamText({ model: model("plain"), prompt: "two" }).text;
const providerOptions = { a2a: { contextId: crypto.randomUUID() } };
const { text: asked } = await generateText({ model: model("asking"), prompt: "begin", providerOptions });
const { text: answered } = await generateText({ model: model("asking"), prompt: "red", providerOptions });
console.log(JSON.stringify({ sent, streamed, asked, answered }));
`,
    );
    expect(turns).toEqual(TURNS);
  });
});

const mastra = installPackages("mastra", ["@mastra/core@1.71.0"]);
describe.skipIf(mastra === undefined)("A2AAgent of @mastra/core 1.71.0", () => {
  it("generates, streams, and resumes after a question", async () => {
    const turns = await runTurns(
      mastra,
      `
import { A2AAgent } from "@mastra/core/a2a";
const open = name => new A2AAgent({ url: \`\${process.argv[2]}/\${name}/.well-known/agent-card.json\` });
const { text: sent } = await open("plain").generate("one");
let streamed = "";
for await (const { type, payload } of (await open("plain").stream("two")).fullStream)
  if (type === "text-delta") streamed += payload.text;
const asking = open("asking");
const { text: asked, runId } = await asking.generate("begin");
const { text: answered } = await asking.resumeGenerate("red", { runId });
console.log(JSON.stringify({ sent, streamed, asked, answered }));
`,
    );
    expect(turns).toEqual(TURNS);
  });
});

const assistantUi = installPackages("assistant-ui", [
  "@assistant-ui/react-a2a@0.2.32",
  "assistant-cloud@0.2.2",
  "react@19.3.1",
]);
describe.skipIf(assistantUi === undefined)("the client of @assistant-ui/react-a2a 0.2.32", () => {
  it("reads the card, sends, streams, and answers a question", async () => {
    const turns = await runTurns(
      assistantUi,
      `
import { A2AClient } from "@assistant-ui/react-a2a";
const open = name => new A2AClient({ baseUrl: \`\${process.argv[2]}/\${name}\` });
const message = (text, more) => ({ messageId: crypto.randomUUID(), role: "user", parts: [{ text }], ...more });
const textOf = ({ parts }) => parts.map(part => part.text).join("");
const plain = open((await open("plain").getAgentCard()).name);
const sent = textOf((await plain.sendMessage(message("one"))).artifacts[0]);
let streamed = "";
for await (const { type, event } of plain.streamMessage(message("two")))
  if (type === "artifactUpdate") streamed += textOf(event.artifact);
const { id: taskId, contextId, status } = await open("asking").sendMessage(message("begin"));
const { artifacts } = await open("asking").sendMessage(message("red", { taskId, contextId }));
console.log(JSON.stringify({ sent, streamed, asked: textOf(status.message), answered: textOf(artifacts[0]) }));
`,
    );
    expect(turns).toEqual(TURNS);
  });
});

const agUi = installPackages("ag-ui-a2a", ["@ag-ui/a2a-middleware@0.0.2"]);

/**
 * An agent of AG-UI that delegates its first turn to the remote agent, and then repeats the results. Its events come
 * one by one, as those of a model do: the middleware finds no arguments of a tool call whose events come all at once.
 */
const AG_UI = `
import { A2AMiddlewareAgent } from "@ag-ui/a2a-middleware";
import { AbstractAgent, EventType } from "@ag-ui/client";
import { Observable } from "rxjs";
const [address, agentName] = process.argv.slice(2);
class Delegating extends AbstractAgent {
  run({ messages, threadId, runId }) {
    const result = messages.findLast(({ role }) => role === "tool")?.content;
    const tool = { toolCallId: "call", toolCallName: "send_message_to_a2a_agent" };
    const events = result
      ? [
          { type: EventType.TEXT_MESSAGE_START, messageId: "end", role: "assistant" },
          { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "end", delta: result },
          { type: EventType.TEXT_MESSAGE_END, messageId: "end" },
        ]
      : [
          { type: EventType.TOOL_CALL_START, ...tool },
          { type: EventType.TOOL_CALL_ARGS, ...tool, delta: JSON.stringify({ agentName, task: "one" }) },
          { type: EventType.TOOL_CALL_END, ...tool },
        ];
    const ids = { threadId, runId };
    return new Observable(async observer => {
      for (const event of [{ type: EventType.RUN_STARTED, ...ids }, ...events, { type: EventType.RUN_FINISHED, ...ids }]) {
        observer.next(event);
        await new Promise(setImmediate);
      }
      observer.complete();
    });
  }
}
console.debug = () => {};
const agent = new A2AMiddlewareAgent({ agentUrls: [\`\${address}/\${agentName}\`], orchestrationAgent: new Delegating() });
agent.messages = [{ id: "1", role: "user", content: "hi" }];
const seen = [];
await agent.runAgent({}, { onEvent: ({ event }) => void seen.push(event) });
const find = type => seen.find(event => event.type === type);
console.log(JSON.stringify({
  result: find(EventType.TOOL_CALL_RESULT)?.content,
  said: find(EventType.TEXT_MESSAGE_CONTENT)?.delta,
}));
`;

describe.skipIf(agUi === undefined)("@ag-ui/a2a-middleware 0.0.2", () => {
  const delegate = (agent: string) =>
    runModule(agUi as string, "delegate.mjs", AG_UI, `${server.url}/agents`, agent);

  it("gets the whole task as the result of its tool, although it sends the role `agent`", async () => {
    const { result, said } = (await delegate("plain")) as { readonly result: string; readonly said: string };
    const task = JSON.parse(result);
    expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
    expect(task.artifacts[0].parts).toEqual([{ kind: "text", text: "You said one" }]);
    expect(said).toBe(`A2A Agent Response: ${result}`);
  });

  it("gets the text of an agent that replies with a message", async () => {
    expect(await delegate("replying")).toEqual({ result: "re: one", said: "A2A Agent Response: re: one" });
  });
});

const generator = installPackages("openapi-typescript", ["openapi-typescript@7.13.0"]);
describe.skipIf(generator === undefined)("openapi-typescript 7.13.0", () => {
  it("generates types from /openapi.json, with short names of operations", async () => {
    const text = `
import openapiTS, { astToString } from "openapi-typescript";
const text = astToString(await openapiTS(new URL(process.argv[2])));
console.log(JSON.stringify([...text.matchAll(/operations\\["(\\w+)"\\]/g)].map(([, name]) => name)));
`;
    const folder = generator as string;
    const names = await runModule(folder, "types.mjs", text, `${server.url}/openapi.json`);
    expect(names).toContain("getTaskOfAgent");
    expect((names as readonly string[]).filter(name => name.length > 60)).toEqual([]);
  });
});
