/** Servers of others, installed on demand, as remote agents of a started server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { remote } from "../../src/runtime/remote/index.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { findPort } from "../support/documents/shell.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, stateOf, textOf } from "../support/wire.ts";
import { installPackages } from "./install.ts";

/** An agent without a model, served by ADK; it says so when it listens. */
const ADK = `
import { BaseAgent, createEvent, toA2a } from "@google/adk";
class Echo extends BaseAgent {
  async *runAsyncImpl({ userContent, invocationId }) {
    const text = userContent.parts.map(part => part.text).join("");
    const content = { role: "model", parts: [{ text: "ADK heard " + text }] };
    yield createEvent({ author: this.name, invocationId, content });
  }
}
const port = Number(process.argv[2]);
const options = { host: "127.0.0.1", port, allowUnauthenticated: true };
const app = await toA2a(new Echo({ name: "echo", description: "Repeats" }), options);
app.listen(port, "127.0.0.1", () => process.send("listening"));
`;

/** An agent of Mastra whose model repeats the message, served by Mastra's adapter for Hono. */
const MASTRA = `
import { serve } from "@hono/node-server";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { MastraServer } from "@mastra/hono";
import { InMemoryTaskStore } from "@mastra/server/a2a/store";
import { Hono } from "hono";
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const model = {
  specificationVersion: "v2", provider: "none", modelId: "echo", supportedUrls: {},
  async doStream({ prompt }) {
    const text = prompt.findLast(({ role }) => role === "user").content.map(part => part.text).join("");
    return { stream: ReadableStream.from([
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "Mastra heard " },
      { type: "text-delta", id: "1", delta: text },
      { type: "text-end", id: "1" },
      { type: "finish", finishReason: "stop", usage },
    ]) };
  },
};
const echo = new Agent({ id: "echo", name: "echo", description: "Repeats", instructions: "Repeat", model });
const app = new Hono();
const mastra = new Mastra({ agents: { echo }, logger: false });
await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: "127.0.0.1" }, () => process.send("listening"));
`;

const SERVERS = [
  {
    name: "@google/adk 2.0.0",
    folder: installPackages("adk", ["@google/adk@2.0.0"]),
    text: ADK,
    card: "/",
    begin: "ADK heard",
  },
  {
    name: "Mastra (@mastra/core 1.71.0, @mastra/hono 1.7.9)",
    folder: installPackages("mastra-server", ["@mastra/core@1.71.0", "@mastra/hono@1.7.9"]),
    text: MASTRA,
    card: "/api/.well-known/echo/agent-card.json",
    begin: "Mastra heard",
  },
];

describe.each(SERVERS)("the server of $name", ({ folder, text, card, begin }) => {
  describe.skipIf(folder === undefined)("through the gateway", () => {
    let child: ChildProcess;
    let here: TestServer;
    beforeAll(async () => {
      const file = join(folder as string, "server.mjs");
      writeFileSync(file, text);
      // A card may have the port, so that it must be known before the server starts.
      const port = await findPort();
      const stdio = ["ignore", "ignore", "inherit", "ipc"] as const;
      child = spawn(process.execPath, [file, String(port)], { stdio: [...stdio] });
      await once(child, "message");
      here = await serve([remote({ name: "gate", card: `http://127.0.0.1:${port}${card}` })]);
    });
    afterAll(async () => {
      await here.stop();
      child.kill();
    });

    it("answers a send", async () => {
      const { body } = await rpc(here.url, "SendMessage", sendParams("one"));
      expect([stateOf(body), textOf(body)]).toEqual(["completed", `${begin} one`]);
    });

    it("answers a stream", async () => {
      const events = await (await openStream(here.url, "SendStreamingMessage", sendParams("two"))).all();
      expect(foldText(events)).toBe(`${begin} two`);
    });
  });
});
