/** Files of Orloj and Arbiter are imported with the command line, and the written project is served. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ChatServer, startChatServer, textIn } from "../support/chat-server.ts";
import { endChildren, refusedChild, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, sendParams } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { stateOf, textOf } from "../support/wire.ts";

let folder: ReturnType<typeof tempFolder>;
let endpoint: ChatServer;
beforeEach(async () => {
  folder = tempFolder();
  // The stand-in says which prompt it got, and what it was asked.
  endpoint = await startChatServer((text, { body }) => ({
    pieces: [`${textIn(body.messages[0])}(${text})`],
  }));
});
afterEach(async () => {
  await endChildren();
  await endpoint.close();
  folder.remove();
});

const toServed = (env: Readonly<Record<string, string>> = {}) => ({
  agents: [join(folder.path, "dragoman.config.ts")],
  data: join(folder.path, "data"),
  flags: ["--durability", "process"],
  env,
});
function write(name: string, text: string): string {
  writeFileSync(join(folder.path, name), text);
  return join(folder.path, name);
}

const toOrloj = (url: string): string => `
apiVersion: orloj.dev/v1
kind: ModelEndpoint
metadata: { name: local }
spec: { provider: openai-compatible, base_url: ${url}, default_model: fake, auth: { secretRef: local-key } }
---
apiVersion: orloj.dev/v1
kind: Agent
metadata: { name: planner-agent }
spec:
  model_ref: local
  prompt: |
    plan
    in two lines
  limits: { max_steps: 4, timeout: 30s }
---
apiVersion: orloj.dev/v1
kind: Agent
metadata: { name: writer-agent }
spec: { model_ref: local, prompt: write }
---
apiVersion: orloj.dev/v1
kind: AgentSystem
metadata:
  name: report-system
  annotations: { orloj.dev/description: Writes reports }
spec:
  agents: [planner-agent, writer-agent]
  graph:
    planner-agent: { next: writer-agent }
  a2a: { enabled: true, auth: public }
---
apiVersion: orloj.dev/v1
kind: McpServer
metadata: { name: everything }
spec: { transport: stdio, command: npx, args: [-y, "@modelcontextprotocol/server-everything"] }
`;

test("a system of Orloj is imported, served under its name, and answers clients of Orloj", async () => {
  const file = write("all.yaml", toOrloj(endpoint.url));
  const { code, out } = await runCli("import", "orloj", file, "--out", folder.path);
  expect(code).toBe(5);
  expect(out).toContain("Agent planner-agent: spec.limits.max_steps has no counterpart\n");
  expect(out).toContain("agent writer-agent: is public: the public AgentSystem report-system calls it");
  const { err } = await refusedChild(toServed());
  expect(err).toContain("The environment variable LOCAL_KEY is not set");

  const server = await startChild(toServed({ LOCAL_KEY: "sk-local" }));
  const params = { id: "t1", message: { role: "user", parts: [{ type: "text", text: "hello" }] } };
  const { body } = await rpc(`${server.url}/v1/agent-systems/report-system/a2a`, "tasks/send", params);
  expect(body).toMatchObject({ result: { status: { state: "completed" } } });
  expect(JSON.stringify(body)).toContain("write(plan\\nin two lines\\n(hello))");
  expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill("Bearer sk-local"),
  );
  const card = await (await fetch(`${server.url}/.well-known/agent-card.json`)).json();
  expect(card).toMatchObject({ name: "report-system", description: "Writes reports" });
});

test("an agent and a remote agent of Arbiter are imported and served", async () => {
  const other = await startChild({ ...toServed(), agents: [], data: join(folder.path, "other") });
  const agents = { far: { url: `${other.url}/v1/a2a/agents/echo` } };
  const files = [
    write("helper.json", JSON.stringify({ model: "ollama/fake", role: "helper", rules: ["Be brief."] })),
    write("a2a_agents.json", JSON.stringify({ agents })),
  ];
  const { code, out } = await runCli("import", "arbiter", ...files, "--out", folder.path);
  expect([code, out]).toEqual([0, expect.stringContaining("token create --principal NAME")]);
  const server = await startChild({ ...toServed(), flags: ["--durability", "process", "--auth", "none"] });
  const { body } = await rpc(`${server.url}/agents/far`, "SendMessage", sendParams("hello"));
  expect([stateOf(body), textOf(body)]).toEqual(["completed", expect.stringContaining("hello")]);
  const card = await (await fetch(`${server.url}/agents/helper/.well-known/agent-card.json`)).json();
  expect(card).toMatchObject({ name: "helper", description: "helper" });
});
