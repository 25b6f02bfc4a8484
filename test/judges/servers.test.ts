/** Servers of others, installed on demand, as remote agents of a started server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { remote } from "../../src/runtime/remote/index.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, stateOf, textOf } from "../support/wire.ts";
import { installPackages } from "./install.ts";

const adk = installPackages("adk", ["@google/adk@2.0.0"]);

/** An agent without a model, served by ADK; it says so when it listens. */
const ADK_SERVER = `
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

/** Its card has its port, so that the port must be known before it starts. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

describe.skipIf(adk === undefined)("the server of @google/adk 2.0.0", () => {
  let child: ChildProcess;
  let here: TestServer;
  beforeAll(async () => {
    const file = join(adk as string, "server.mjs");
    writeFileSync(file, ADK_SERVER);
    const port = await findPort();
    child = spawn(process.execPath, [file, String(port)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    await once(child, "message");
    here = await serve([remote({ name: "gate", card: `http://127.0.0.1:${port}/` })]);
  });
  afterAll(async () => {
    await here.stop();
    child.kill();
  });

  it("answers a send through the gateway", async () => {
    const { body } = await rpc(here.url, "SendMessage", sendParams("one"));
    expect([stateOf(body), textOf(body)]).toEqual(["completed", "ADK heard one"]);
  });

  it("answers a stream through the gateway", async () => {
    const events = await (await openStream(here.url, "SendStreamingMessage", sendParams("two"))).all();
    expect(foldText(events)).toBe("ADK heard two");
  });
});
