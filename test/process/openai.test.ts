/**
 * Models behind endpoints, as a config names them: the earlier tasks that they receive, and the secrecy of
 * the key.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ChatServer, startChatServer, textIn } from "../support/chat-server.ts";
import { type Child, endChildren, refusedChild, startChild } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

const KEY = "sk-not-for-anybody";

let folder: ReturnType<typeof tempFolder>;
let endpoint: ChatServer;
let server: Child;
beforeEach(async () => {
  folder = tempFolder();
  endpoint = await startChatServer((text, { body, headers }) => {
    if (text === "fail")
      return { status: 401, json: { error: { message: `bad key ${headers.authorization}` } } };
    return { pieces: [`${body.messages.length}. `, text] };
  });
});
afterEach(async () => {
  await endChildren();
  await endpoint.close();
  folder.remove();
});

function write(...agents: readonly object[]): string {
  const config = join(folder.path, "dragoman.config.ts");
  const all = agents.map(one => ({
    runtime: "openai",
    name: "chat",
    model: "fake",
    baseUrl: endpoint.url,
    ...one,
  }));
  writeFileSync(config, `export default { agents: ${JSON.stringify(all)} };\n`);
  return config;
}
async function start(...agents: readonly object[]): Promise<void> {
  const flags = ["--durability", "process", "--log-level", "trace"];
  const served = { agents: [write(...agents)], data: join(folder.path, "data"), flags };
  server = await startChild({ ...served, env: { THE_KEY: KEY } });
}
const send = async (text: string, message: object = {}): Promise<object> =>
  (await rpc(server.url, "SendMessage", sendParams(text, message))).body;
const sentTexts = (): readonly string[] => endpoint.requests.at(-1)?.body.messages.map(textIn);

describe("a context", () => {
  test("is sent task by task: replies, not failures", async () => {
    await start({ system: "Be kind." });
    const contextId = "talk";
    await send("one", { contextId });
    expect(stateOf(await send("fail", { contextId }))).toBe("failed");
    await send("other", { contextId: "elsewhere" });
    expect(textOf(await send("two", { contextId }))).toBe("4. two");
    expect(sentTexts()).toEqual(["Be kind.", "one", "2. one", "two"]);
  });

  test("is sent as far back as the agent is configured: the newest whole tasks", async () => {
    await start({ history: 4 });
    const contextId = "talk";
    for (const text of ["a", "b", "c", "d"]) await send(text, { contextId });
    expect(sentTexts()).toEqual(["b", "3. b", "c", "5. c", "d"]);
    await send("e", { contextId });
    expect(sentTexts()).toEqual(["c", "5. c", "d", "5. d", "e"]);
  });

  test("is not sent at all if the agent is configured so", async () => {
    await start({ history: 0 });
    const contextId = "talk";
    await send("a", { contextId });
    expect(textOf(await send("b", { contextId }))).toBe("1. b");
  });
});

test("the key is sent to the endpoint, and is nowhere else: not in responses, not in the log", async () => {
  await start({ keyEnv: "THE_KEY" });
  const failed = await send("fail");
  expect(endpoint.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  const ref = /under (\S+)\.$/.exec(partsText(taskOf(failed).status.message.parts))?.[1] as string;
  await until(() => server.stderr().includes(ref));
  expect(server.stderr()).toContain("bad key Bearer [key]");
  expect(server.stderr() + JSON.stringify(failed)).not.toContain(KEY);
});

describe("an invalid config", () => {
  const refused = async (agent: object): Promise<string> =>
    (await refusedChild({ agents: [write(agent)], data: join(folder.path, "data") })).err;

  test("is reported before anything is served: the agent, the option, the remedy", async () => {
    expect(await refused({ keyEnv: "NO_SUCH_KEY" })).toContain(
      `The agent "chat": The environment variable NO_SUCH_KEY is not set: it contains the API key for ${endpoint.url}`,
    );
    expect(await refused({ keyenv: "X" })).toContain(
      'openai() has no option "keyenv" (did you mean "keyEnv"?)',
    );
    expect(await refused({ runtime: "openia" })).toMatch(/Unknown runtime "openia".*openai/);
  });
});
