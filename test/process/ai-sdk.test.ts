/**
 * Agents of the AI SDK in a server that is killed: finished tool calls are not repeated, and pending
 * approvals stay pending.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { foldText, partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

const MODEL = new URL("../support/ai-model.ts", import.meta.url).href;
const AI_SDK = new URL("../../src/runtime/ai-sdk/index.ts", import.meta.url).href;
const AI = import.meta.resolve("ai");

/**
 * Each word of the message is a tool call, one step after another. Tools append a line to the trail; a tool
 * named "held…" then waits until there is a file of its name.
 */
const AGENT = (folder: string): string => `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonSchema, ToolLoopAgent, tool } from "${AI}";
import { aiSdk } from "${AI_SDK}";
import { fakeModel } from "${MODEL}";

const folder = ${JSON.stringify(folder)};
async function act({ word }) {
  appendFileSync(folder + "/trail", word + "\\n");
  if (word.startsWith("held")) while (!existsSync(folder + "/" + word)) await sleep(5);
  return word.toUpperCase();
}
const inputSchema = jsonSchema({ type: "object" });
const tools = {
  act: tool({ inputSchema, execute: act }),
  pay: tool({ inputSchema, needsApproval: true, execute: act }),
};
function* play({ text, results }) {
  const words = text.split(" ");
  const word = words[results.length];
  const last = results.at(-1)?.output;
  if (last) yield "Did " + (last.value ?? last.type) + ".";
  if (word) yield { id: "call-" + results.length, tool: word.startsWith("pay") ? "pay" : "act", args: { word } };
}
export const agent = new ToolLoopAgent({ model: fakeModel(play), tools });
export default aiSdk(agent, { name: "worker", tools: false, contextAnswers: false });
`;

let folder: ReturnType<typeof tempFolder>;
let server: Child;
beforeEach(async () => {
  folder = tempFolder();
  writeFileSync(join(folder.path, "worker.ts"), AGENT(folder.path));
  await start(0);
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

async function start(port: number, file = "worker.ts"): Promise<void> {
  const flags = ["--durability", "process", "--log-level", "warn"];
  const agents = [join(folder.path, file)];
  server = await startChild({ agents, data: join(folder.path, "data"), port, flags });
}
async function restart(): Promise<void> {
  await server.kill();
  await start(server.port);
}
const send = async (text: string, message: object = {}, more: object = {}): Promise<object> =>
  (await rpc(server.url, "SendMessage", { ...sendParams(text, message), ...more })).body;
const begin = async (text: string, message: object = {}): Promise<string> =>
  taskOf(await send(text, message, { configuration: { returnImmediately: true } })).id;
const get = async (id: string): Promise<object> => (await rpc(server.url, "GetTask", { id })).body;
const trail = (): readonly string[] => {
  const file = join(folder.path, "trail");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};
const open = (gate: string): void => writeFileSync(join(folder.path, gate), "");

test("a kill in the third step: the tools of the first two are not called again, and no output is repeated", async () => {
  const id = await begin("one two held");
  await until(() => trail().at(-1) === "held");
  await until(async () => textOf(await get(id)) === "Did ONE.\n\nDid TWO.");
  await restart();
  await until(() => trail().length === 4);
  open("held");
  await until(async () => stateOf(await get(id)) === "completed");
  expect(textOf(await get(id))).toBe("Did ONE.\n\nDid TWO.\n\nDid HELD.");
  expect(trail()).toEqual(["one", "two", "held", "held"]);
  const log = await openStream(server.url, "SubscribeToTask", { id }, { "last-event-id": "0" });
  const events = await log.all();
  expect(foldText(events)).toBe("Did ONE.\n\nDid TWO.\n\nDid HELD.");
  expect(JSON.stringify(events)).not.toContain("dragoman.attempt");
});

test("a pending approval survives a kill, and the approved call is made once", async () => {
  const asked = await send("one pay held");
  expect(stateOf(asked)).toBe("input-required");
  expect(partsText(taskOf(asked).status.message.parts)).toContain('May pay be called with {"word":"pay"}?');
  const { id } = taskOf(asked);
  await restart();
  expect(stateOf(await get(id))).toBe("input-required");
  expect(trail()).toEqual(["one"]);
  await begin("yes", { taskId: id });
  await until(() => trail().at(-1) === "held");
  await restart();
  await until(() => trail().length === 4);
  open("held");
  await until(async () => stateOf(await get(id)) === "completed");
  expect(trail()).toEqual(["one", "pay", "held", "held"]);
  expect(textOf(await get(id))).toBe("Did ONE.Did PAY.\n\nDid HELD.");
});

test("a denial is passed on as well; another task of the context is not affected by the pending approval", async () => {
  const contextId = "shared";
  const asked = await send("pay", { contextId });
  expect(textOf(await send("two", { contextId }))).toBe("Did TWO.");
  const body = await send("no", { taskId: taskOf(asked).id });
  expect([stateOf(body), textOf(body)]).toEqual(["completed", "Did execution-denied."]);
  expect(trail()).toEqual(["two"]);
});

test("a config can name an agent that a file exports", async () => {
  const agent = { runtime: "ai-sdk", name: "named", agent: "./worker.ts:agent", tools: true };
  const config = join(folder.path, "dragoman.config.ts");
  writeFileSync(config, `export default { agents: [${JSON.stringify(agent)}] };\n`);
  await server.stop();
  await start(0, "dragoman.config.ts");
  const { artifacts } = taskOf(await send("one"));
  const names = artifacts.map((artifact: { name: string }) => artifact.name);
  expect(names).toEqual(["tool-call", "tool-result", "response"]);
});
