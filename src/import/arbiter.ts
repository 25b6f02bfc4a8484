/**
 * Files of Arbiter: agents, lists of agents as `GET /v1/agents` returns them, `a2a_agents.json` and
 * `mcp_servers.json`. https://github.com/tylerreckart/arbiter
 */
import { basename } from "node:path";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { StartupError } from "../lib/startup-error.ts";
import { type ConfigObject, ImportDraft, type ImportSource } from "./draft.ts";
import { Members } from "./members.ts";

export function importArbiter(sources: readonly ImportSource[]): ImportDraft {
  const draft = new ImportDraft();
  // Arbiter has no call without the token of a tenant.
  draft.auth = "tokens";
  for (const source of sources) addFile(draft, source);
  return draft;
}

function addFile(draft: ImportDraft, { name: file, text }: ImportSource): void {
  const document = parse(file, text);
  const { agents, servers, agent_def, ...others } = document;
  if (Array.isArray(agents)) {
    for (const one of agents) addAgent(draft, file, one);
    // The number of agents in the list.
    const { count: _, ...rest } = others;
    draft.noteRest(file, new Members(rest).rest());
  } else if (isObject(agents)) {
    for (const [name, remote] of Object.entries(agents)) addRemote(draft, name, remote);
    draft.noteRest(file, new Members(others).rest());
  } else if (isObject(servers)) {
    for (const [name, server] of Object.entries(servers)) addMcpServer(draft, name, server);
    draft.noteRest(file, new Members(others).rest());
  } else if (isObject(agent_def)) {
    addAgent(draft, file, agent_def);
    draft.noteRest(file, new Members(others).rest());
  } else if (typeof document.model === "string") addAgent(draft, file, document);
  else
    throw new StartupError(
      `${file} is not a file of Arbiter: expected an agent with a model, a list of agents, a2a_agents.json or mcp_servers.json`,
      { file },
    );
}

function parse(file: string, text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new StartupError(`${file} is not valid JSON: ${(error as Error).message}`, { file, cause: error });
  }
  if (isObject(value)) return value;
  throw new StartupError(`${file} is not a JSON object`, { file });
}

function addAgent(draft: ImportDraft, file: string, value: Json): void {
  if (!isObject(value)) return draft.note(file, "an entry of agents is not an object");
  const members = new Members(value);
  // An agent of the folder ~/.arbiter/agents is called by the name of its file.
  const id = members.text("id") ?? basename(file, ".json");
  const subject = `agent ${id}`;
  if (id === "index")
    return draft.note(subject, "is not carried over: it is the orchestrator of Arbiter itself");
  const model = toModel(draft, members.text("model") ?? "");
  if (model === undefined)
    return draft.note(
      subject,
      `is not carried over: no known provider has the model ${JSON.stringify(value.model ?? "")}`,
    );
  const name = draft.claimName(subject, id);
  if (name === undefined) return;
  draft.agents.push({
    runtime: "openai",
    name,
    ...toPrompt(members),
    ...model,
    ...toOptions(draft, subject, members),
  });
  for (const state of ["name", "created_at", "updated_at"]) members.any(state);
  draft.noteRest(subject, members.rest());
}

/** Hosted models are called through OpenRouter, as Arbiter does; `claude-…` and `gemini/…` are names of older versions. */
function toModel(draft: ImportDraft, model: string): ConfigObject | undefined {
  const slash = model.indexOf("/");
  const rest = model.slice(slash + 1);
  if (model.startsWith("ollama/")) return { baseUrl: "http://127.0.0.1:11434/v1", model: rest };
  if (model.startsWith("gemini/"))
    return {
      baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
      model: rest,
      keyEnv: draft.variable("GEMINI_API_KEY", "the API key of Google Gemini"),
    };
  if (slash > 0 && rest !== "")
    return {
      baseUrl: "https://openrouter.ai/api/v1",
      model,
      keyEnv: draft.variable("OPENROUTER_API_KEY", "the API key of OpenRouter"),
    };
  if (!model.startsWith("claude-")) return undefined;
  return {
    baseUrl: "https://api.anthropic.com/v1",
    model,
    keyEnv: draft.variable("ANTHROPIC_API_KEY", "the API key of Anthropic"),
  };
}

function toPrompt(members: Members): ConfigObject {
  const role = members.text("role");
  const goal = members.text("goal");
  const personality = members.text("personality");
  const rules = members.texts("rules") ?? [];
  const system = [
    role && `Your role: ${role}`,
    goal && `Your goal: ${goal}`,
    personality && `Your personality: ${personality}`,
    rules.length > 0 && ["Rules:", ...rules.map(rule => `- ${rule}`)].join("\n"),
  ].filter(Boolean);
  // As on the cards of Arbiter.
  const description = [role, goal].filter(Boolean).join(" — ");
  return { description: description || undefined, system: system.join("\n") || undefined };
}

function toOptions(draft: ImportDraft, subject: string, members: Members): ConfigObject {
  const max_tokens = members.number("max_tokens");
  const temperature = members.number("temperature");
  const capabilities = members.texts("capabilities") ?? [];
  const commands = capabilities.filter(one => one.startsWith("/"));
  if (commands.length > 0)
    draft.note(
      subject,
      `its commands (${commands.join(", ")}) are not carried over: the model still reads of them in its rules, if these name them`,
    );
  const skills = capabilities.filter(one => !one.startsWith("/"));
  return {
    skills: skills.length > 0 ? skills.map(id => ({ id })) : undefined,
    params: max_tokens === undefined && temperature === undefined ? undefined : { max_tokens, temperature },
  };
}

function addRemote(draft: ImportDraft, wanted: string, value: Json): void {
  const subject = `remote agent ${wanted}`;
  const members = new Members(isObject(value) ? value : {});
  const url = members.text("url");
  if (url === undefined || !URL.canParse(url))
    return draft.note(subject, "is not carried over: its url is not a URL");
  const name = draft.claimName(subject, wanted);
  if (name === undefined) return;
  const type = members.text("auth", "type") ?? "bearer";
  if (type !== "bearer") draft.note(subject, `auth.type is ${type}, and a bearer token is sent`);
  const named = members.text("auth", "token_env");
  const token = members.text("auth", "token");
  if (token !== undefined)
    draft.note(subject, "its token is not copied: set the variable that the config reads");
  const variable = named ?? (token === undefined ? undefined : `${name}-token`);
  const auth =
    variable === undefined ? undefined : { bearerEnv: draft.variable(variable, `the token for ${subject}`) };
  const endpoint = url.replace(/\/+$/, "");
  draft.agents.push({ runtime: "remote", name, card: `${endpoint}/agent-card.json`, endpoint, auth });
  draft.noteRest(subject, members.rest());
}

function addMcpServer(draft: ImportDraft, name: string, value: Json): void {
  const subject = `MCP server ${name}`;
  const members = new Members(isObject(value) ? value : {});
  const command = members.text("command");
  if (command === undefined) return draft.note(subject, "is not carried over: command is missing");
  draft.mcpServers[name] = { command, args: members.texts("args"), env: toEnv(draft, subject, members) };
  draft.noteRest(subject, members.rest());
}

function toEnv(draft: ImportDraft, subject: string, members: Members): ConfigObject | undefined {
  const env = members.object("env");
  if (env === undefined) return undefined;
  const wrong = Object.keys(env).filter(key => typeof env[key] !== "string");
  for (const key of wrong) draft.note(subject, `env.${key} is not a text`);
  return Object.fromEntries(Object.entries(env).filter(([key]) => !wrong.includes(key))) as ConfigObject;
}
