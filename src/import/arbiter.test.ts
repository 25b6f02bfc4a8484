import { expect, test } from "vitest";
import { importProject } from "./index.ts";

const RESEARCHER = {
  id: "researcher",
  name: "Researcher",
  role: "researcher",
  model: "anthropic/claude-sonnet-5",
  goal: "answer one question",
  personality: "skeptical",
  max_tokens: 256,
  temperature: 0.2,
  rules: ["Cite sources."],
  capabilities: ["research", "/fetch"],
};

async function importFiles(files: Readonly<Record<string, unknown>>) {
  const sources = Object.entries(files).map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : JSON.stringify(value),
  }));
  const project = await importProject("arbiter", sources);
  return { ...project, config: project.files.get("dragoman.config.ts") as string };
}

test("role, goal, personality and rules are the prompt; callers need tokens, as in Arbiter", async () => {
  const { config, notes, variables } = await importFiles({ "a.json": RESEARCHER });
  expect(config).toContain('auth: "tokens",');
  expect(config).toContain(`{
      runtime: "openai",
      name: "researcher",
      description: "researcher — answer one question",
      system: \`Your role: researcher
Your goal: answer one question
Your personality: skeptical
Rules:
- Cite sources.\`,
      baseUrl: "https://openrouter.ai/api/v1",
      model: "anthropic/claude-sonnet-5",
      keyEnv: "OPENROUTER_API_KEY",
      skills: [
        {
          id: "research",
        },
      ],
      params: {
        max_tokens: 256,
        temperature: 0.2,
      },
    },`);
  expect([...variables.keys()]).toEqual(["OPENROUTER_API_KEY"]);
  expect(notes).toEqual([
    expect.stringContaining("agent researcher: its commands (/fetch) are not carried over"),
  ]);
});

test.each([
  ["ollama/llama3.2", "http://127.0.0.1:11434/v1", "llama3.2"],
  ["gemini/gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro"],
  ["claude-haiku-4-5", "https://api.anthropic.com/v1", "claude-haiku-4-5"],
  ["google/gemini-3.6-flash", "https://openrouter.ai/api/v1", "google/gemini-3.6-flash"],
])("the model %s is called at %s", async (model, baseUrl, name) => {
  const { config } = await importFiles({ "agents/small.json": { model } });
  expect(config).toContain(`name: "small",\n      baseUrl: "${baseUrl}",\n      model: "${name}",`);
});

test("a list of agents leaves out Arbiter's own, and says so; other members are listed", async () => {
  const listed = { ...RESEARCHER, capabilities: [], created_at: 1, updated_at: 2 };
  const { agents, notes } = await importFiles({
    "list.json": {
      count: 4,
      agents: [
        { id: "index", model: "claude-haiku-4-5" },
        { ...listed, brevity: "lite", advisor: { model: "x", mode: "gate" }, memory: { auto_tag: true } },
        { id: "odd", model: "unknown" },
        7,
      ],
    },
    "inline.json": { message: "hi", agent_def: { ...listed, id: "Acme_RFC" } },
  });
  expect(agents).toEqual(["researcher", "acme_rfc"]);
  expect(notes).toEqual([
    "agent index: is not carried over: it is the orchestrator of Arbiter itself",
    "agent researcher: brevity has no counterpart",
    "agent researcher: advisor.model has no counterpart",
    "agent researcher: advisor.mode has no counterpart",
    "agent researcher: memory.auto_tag has no counterpart",
    'agent odd: is not carried over: no known provider has the model "unknown"',
    "list.json: an entry of agents is not an object",
    'agent Acme_RFC: is served as "acme_rfc"',
    "inline.json: message has no counterpart",
  ]);
});

test("remote agents and MCP servers are carried over, and tokens are not copied", async () => {
  const { config, notes, variables } = await importFiles({
    "a2a_agents.json": {
      agents: {
        weatherbot: { url: "https://weather.example/a2a/w/", auth: { type: "bearer", token_env: "WEATHER" } },
        "rfc-reviewer": { url: "https://rfc.example/a2a", auth: { token: "atr_secret" } },
        broken: { url: "nowhere" },
      },
    },
    "mcp_servers.json": {
      _doc: ["a comment"],
      servers: {
        playwright: { command: "npx", args: ["-y", "x"], env: { A: "1", B: 2 }, init_timeout_ms: 90_000 },
        none: {},
      },
    },
  });
  expect(config).toContain(
    'card: "https://weather.example/a2a/w/agent-card.json",\n      endpoint: "https://weather.example/a2a/w",\n      auth: {\n        bearerEnv: "WEATHER",',
  );
  expect(config).toContain('bearerEnv: "RFC_REVIEWER_TOKEN",');
  expect(config).not.toContain("atr_secret");
  expect([...variables.keys()]).toEqual(["WEATHER", "RFC_REVIEWER_TOKEN"]);
  expect(config).toContain('playwright: {\n      command: "npx",');
  expect(notes).toEqual([
    "remote agent rfc-reviewer: its token is not copied: set the variable that the config reads",
    "remote agent broken: is not carried over: its url is not a URL",
    "MCP server playwright: env.B is not a text",
    "MCP server playwright: init_timeout_ms has no counterpart",
    "MCP server none: is not carried over: command is missing",
    "mcp_servers.json: _doc has no counterpart",
  ]);
});

test.each([
  ["{", "a.json is not valid JSON: "],
  ["[]", "a.json is not a JSON object"],
  ["{}", "a.json is not a file of Arbiter: "],
  ['{"model":7}', "a.json is not a file of Arbiter: "],
  ['{"agents":[]}', "No agent could be carried over"],
])("the file %s is refused", async (text, message) => {
  await expect(importFiles({ "a.json": text })).rejects.toThrow(message);
});
