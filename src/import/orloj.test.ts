import { expect, test } from "vitest";
import { importProject } from "./index.ts";

const MODEL = `
apiVersion: orloj.dev/v1
kind: ModelEndpoint
metadata: { name: openai-default }
spec:
  provider: openai
  default_model: gpt-4o-mini
  options: { max_tokens: "512" }
  auth: { secretRef: openai-api-key }
`;
const resource = (kind: string, name: string, spec: string, metadata = ""): string =>
  `---\napiVersion: orloj.dev/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${metadata}spec:\n${spec.replace(/^(?=.)/gm, "  ")}\n`;
const agentOf = (name: string, more = ""): string =>
  resource("Agent", name, `model_ref: openai-default\nprompt: You are ${name}.\n${more}`);
const system = (name: string, spec: string): string => resource("AgentSystem", name, spec);

async function importText(...texts: readonly string[]) {
  const project = await importProject("orloj", [{ name: "all.yaml", text: texts.join("") }]);
  return { ...project, config: project.files.get("dragoman.config.ts") as string };
}

test("an agent with a prompt and a model is an entry of the runtime openai, and its secret a variable", async () => {
  const { config, notes, variables, agents } = await importText(MODEL, agentOf("writer"));
  expect(agents).toEqual(["writer"]);
  expect(notes).toEqual([]);
  expect([...variables.keys()]).toEqual(["OPENAI_API_KEY"]);
  expect(config).toContain(`{
      runtime: "openai",
      name: "writer",
      baseUrl: "https://api.openai.com/v1",
      model: "gpt-4o-mini",
      keyEnv: "OPENAI_API_KEY",
      params: {
        max_tokens: 512,
      },
      system: "You are writer.",
    },`);
});

test("members without a counterpart are listed one by one, also those of a wrong type", async () => {
  const { notes, config } = await importText(
    MODEL,
    agentOf(
      "writer",
      "tools: [web_search]\nlimits: { max_steps: 4, timeout: 30s }\nroles: [admin]\nmemory: 7",
    ),
    resource("Agent", "odd", "model_ref: openai-default\nprompt: [not, a, text]", "  namespace: prod\n"),
  );
  expect(notes).toEqual([
    "Agent writer: its tools (web_search) are not carried over: the runtime openai calls none",
    "Agent writer: spec.limits.max_steps has no counterpart",
    "Agent writer: spec.limits.timeout has no counterpart",
    "Agent writer: spec.roles has no counterpart",
    "Agent writer: spec.memory has no counterpart",
    "Agent odd: metadata.namespace has no counterpart",
    "Agent odd: spec.prompt has no counterpart",
  ]);
  for (const note of notes) expect(config).toContain(`// - ${note}\n`);
});

test.each([
  ["anthropic", "", "https://api.anthropic.com/v1"],
  ["ollama", "", "http://127.0.0.1:11434/v1"],
  ["openai-compatible", "http://localhost:8000/v1/", "http://localhost:8000/v1"],
  ["azure-openai", "https://mine.openai.azure.com", "https://mine.openai.azure.com/openai/v1"],
])("the provider %s is called at its OpenAI-compatible address", async (provider, given, expected) => {
  const address = given && `base_url: ${given}\n`;
  const model = resource(
    "ModelEndpoint",
    "openai-default",
    `provider: ${provider}\n${address}default_model: m`,
  );
  expect((await importText(model, agentOf("a"))).config).toContain(`baseUrl: "${expected}"`);
});

test("agents whose model cannot be called are not written; without any agent nothing is", async () => {
  const bedrock = resource("ModelEndpoint", "aws", "provider: bedrock\ndefault_model: m");
  const lost = resource("Agent", "lost", "model_ref: elsewhere");
  const far = resource("Agent", "far", "model_ref: aws");
  const { notes, agents } = await importText(MODEL, agentOf("here"), bedrock, lost, far);
  expect(agents).toEqual(["here"]);
  expect(notes).toEqual([
    'ModelEndpoint aws: is not carried over: the provider "bedrock" has no OpenAI-compatible API',
    'Agent lost: is not carried over: its ModelEndpoint "elsewhere" is not in the files',
    'Agent far: is not carried over: its ModelEndpoint "aws" cannot be called',
  ]);
  await expect(importText(bedrock, far)).rejects.toThrow(/^No agent could be carried over.*Agent far/s);
});

test("a system that is a sequence becomes an agent that calls the others, with its name and its access", async () => {
  const { files, config, notes } = await importText(
    MODEL,
    agentOf("report"),
    agentOf("writer-agent"),
    system(
      "report",
      "agents: [writer-agent, report]\na2a: { enabled: true, auth: public }\ngraph:\n  report:\n    edges:\n      - to: writer-agent\n",
    ),
  );
  expect(notes).toEqual([
    'Agent report: is served as "report-2"',
    "agent report-2: is public: the public AgentSystem report calls it for its callers",
    "agent writer-agent: is public: the public AgentSystem report calls it for its callers",
  ]);
  expect(config).toContain('auth: "tokens",\n  default: "report",');
  expect(config).toContain('"agents/report.ts",');
  const file = files.get("agents/report.ts") as string;
  expect(file).toContain('const STEPS = ["report-2","writer-agent"];');
  expect(file).toContain('access: "public",');
});

test.each([
  ["a condition", "a: { edges: [{ to: b, condition: { output_contains: X } }] }"],
  ["two edges", "a: { edges: [{ to: b }, { to: c }] }"],
  ["a join", "a: { next: b }\n  b: { join: { mode: wait_for_all } }"],
  ["delegates", "a: { delegates: [{ to: b }] }"],
  ["a loop", "a: { next: b }\n  b: { next: a }"],
  ["a loop behind the first agent", "a: { next: b }\n  b: { next: c }\n  c: { next: b }"],
  ["two ends of nothing", "a: { next: b }"],
])("a graph with %s is listed, not guessed", async (_, graph) => {
  const agents = ["a", "b", "c"].map(name => agentOf(name)).join("");
  const { notes, files } = await importText(
    MODEL,
    agents,
    system("flow", `agents: [a, b, c]\ngraph:\n  ${graph}\n`),
  );
  expect(notes).toEqual([expect.stringMatching(/^AgentSystem flow: is not carried over: .* graph|node/)]);
  expect([...files.keys()]).toEqual(["dragoman.config.ts"]);
});

test("a2a tools are remote agents; other tools, kinds and documents are listed; no secret is copied", async () => {
  const text = [
    MODEL,
    resource(
      "Tool",
      "analyst",
      "type: a2a\na2a: { agent_url: https://analyst.example, protocol_version: '0.2' }\nauth: { secretRef: analyst-key }",
    ),
    resource(
      "Tool",
      "buyer",
      "type: a2a\na2a: { agent_url: https://buyer.example }\nauth: { profile: oauth2_client_credentials, secretRef: buyer, tokenURL: https://id.example/token, scopes: [a, b] }",
    ),
    resource("Tool", "web_search", "endpoint: https://api.search.com"),
    resource("Secret", "analyst-key", "stringData: { value: sk-secret }"),
    resource("AgentPolicy", "cost", "max_tokens_per_run: 5"),
    "---\napiVersion: apps/v1\nkind: Deployment\n",
  ];
  const { config, notes, variables } = await importText(...text);
  expect(config).toContain(
    'card: "https://analyst.example",\n      auth: {\n        bearerEnv: "ANALYST_KEY",',
  );
  expect(config).toContain('clientId: process.env.BUYER_CLIENT_ID ?? "",');
  expect(config).toContain('clientSecretEnv: "BUYER_CLIENT_SECRET",\n          scope: "a b",');
  expect([...variables.keys()]).toEqual(
    expect.arrayContaining(["ANALYST_KEY", "BUYER_CLIENT_ID", "BUYER_CLIENT_SECRET"]),
  );
  expect(config).not.toContain("sk-secret");
  expect(notes).toEqual([
    "all.yaml, document 7: is not a resource of orloj.dev/v1 with a kind and a name",
    "AgentPolicy cost: is not carried over: resources of this kind have no counterpart",
    "Secret analyst-key: its values are not copied: set the variables that the config reads",
    "ModelEndpoint openai-default: is not carried over: no agent uses it",
    "Tool analyst: spec.a2a.protocol_version has no counterpart",
    "Tool web_search: is not carried over: tools of the type http have no counterpart; call it from an agent in code",
  ]);
});

test("MCP servers are entries of mcpServers, with their secrets as variables", async () => {
  const { config, notes } = await importText(
    MODEL,
    agentOf("a"),
    resource(
      "McpServer",
      "every-thing",
      "transport: stdio\ncommand: npx\nargs: [-y, server]\nenv: [{ name: API_KEY, secretRef: mcp-key }, { name: MODE, value: fast, key: k }, { value: x }]\nreconnect: { max_attempts: 3 }",
    ),
    resource(
      "McpServer",
      "far",
      "transport: http\nendpoint: https://mcp.example\nauth: { secretRef: far-token }",
    ),
    resource("McpServer", "boxed", "transport: stdio\nimage: example/image\ncommand: serve"),
  );
  expect(config).toContain(
    '"every-thing": {\n      command: "npx",\n      args: [\n        "-y",\n        "server",\n      ],',
  );
  expect(config).toContain('API_KEY: process.env.EVERY_THING_API_KEY ?? "",\n        MODE: "fast",');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the written config.
  expect(config).toContain("Authorization: `Bearer ${process.env.FAR_TOKEN}`,");
  expect(notes).toEqual([
    "McpServer every-thing: key of spec.env MODE has no counterpart",
    "McpServer every-thing: an entry of spec.env has no name",
    "McpServer every-thing: spec.reconnect.max_attempts has no counterpart",
    "McpServer boxed: is not carried over: the container example/image is not started here",
  ]);
});

test("texts of the files cannot leave their place in the config", async () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: what must not become code.
  const prompt = JSON.stringify("line ` ${process.exit(1)} \\\nend");
  const { config } = await importText(
    MODEL,
    resource("Agent", "a", `model_ref: openai-default\nprompt: ${prompt}\n"x\\nprocess.exit(1)": 1`),
  );
  expect(config).toContain("system: `line \\` \\${process.exit(1)} \\\\\nend`,");
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: what must not become code.
  expect(config).toContain("// - Agent a: spec.x process.exit(1) has no counterpart\n");
});

test("bad files are refused with their name", async () => {
  await expect(importText("a: [")).rejects.toThrow(/^all\.yaml is not valid YAML: /);
  await expect(importText("a: 1")).rejects.toThrow("all.yaml has no resource of orloj.dev/v1");
  await expect(importText("")).rejects.toThrow("all.yaml has no resource of orloj.dev/v1");
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefgh"].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${"abcdefgh"[at]}`).join()}]\n`).join("")}`;
  await expect(importText(bomb)).rejects.toThrow("all.yaml is not valid YAML: Excessive alias count");
});

test("lists with items, in JSON, are read like single resources", async () => {
  const head = { apiVersion: "orloj.dev/v1" };
  const endpoint = { provider: "ollama", default_model: "m" };
  const items = [
    {
      ...head,
      kind: "ModelEndpoint",
      metadata: { name: "local" },
      spec: endpoint,
      status: { phase: "Ready" },
    },
    { ...head, kind: "Agent", metadata: { name: "a" }, spec: { model_ref: "default/local" } },
    { ...head, kind: "Agent", metadata: { name: "a", namespace: "other" }, spec: { model_ref: "local" } },
  ];
  const { agents, notes } = await importText(JSON.stringify({ items }));
  expect(agents).toEqual(["a"]);
  expect(notes).toEqual(["Agent a: appears again: only the first one is carried over"]);
});
