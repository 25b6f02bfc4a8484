/** Loads the agents that the settings name. */
import { basename, dirname } from "node:path";
import { readVariable, readVariables, type Settings } from "../config/config.ts";
import { isProviderModel } from "../items/provider-embed.ts";
import { StartupError } from "../lib/startup-error.ts";
import { findAgents } from "../loader/find-agents.ts";
import { importReference } from "../loader/import-file.ts";
import { type LoadedAgent, loadAgents } from "../loader/load-agents.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent, Embed } from "../ports/index.ts";
import { toAgent } from "../runtime/function/index.ts";
import { createAgent } from "../runtime/index.ts";
import { bindEnvironment } from "../runtime/shared/bind-environment.ts";

export interface ServedAgents {
  readonly agents: readonly Agent[];
  /** The agent that is served at `/`. */
  readonly defaultAgent: AgentName;
  /** The files that they were loaded from. */
  readonly files: readonly string[];
  /** See `ServerParts`. */
  readonly embed: Embed | undefined;
}

/** For a command without arguments: where nothing names agents, those of the folder, with the reason in words. */
export function findServedAgents<T extends Settings>(settings: T): { settings: T; reason: string } {
  const { agents, agentsFolder, agentsOrigin, configFiles } = settings;
  const [configFile] = configFiles;
  if (agentsOrigin !== undefined && agentsOrigin === configFile)
    return { settings, reason: `the agents of ${basename(configFile)}` };
  if (agentsOrigin !== undefined)
    return { settings, reason: agents.filter(one => typeof one === "string").join(", ") };
  const folder = configFile === undefined ? agentsFolder : dirname(configFile);
  const found = findAgents(folder);
  const looked = configFile === undefined ? "no dragoman.config.ts, langgraph.json or agents/" : "no agents/";
  if (found === undefined) return { settings, reason: `the bundled examples: ${folder} has ${looked}` };
  const reason = `the files in ${found}/, found in ${configFile === undefined ? "this folder" : folder}`;
  return { settings: { ...settings, agents: [found], agentsFolder: folder }, reason };
}

/** `generation`: see `LoadParts`. */
export async function loadServedAgents(settings: Settings, generation: number): Promise<ServedAgents> {
  const { agentsFolder: cwd } = settings;
  const variables = readVariables();
  const loaded = await loadAgents(settings.agents, {
    cwd,
    generation,
    createAgent: (spec, load, context) => createAgent(spec, load, { ...context, variables }),
  });
  const agents = loaded.agents.map(agent => toServed(agent, cwd));
  const embed = await loadEmbed(settings, generation);
  return { agents, defaultAgent: findDefault(agents, settings.default), files: loaded.files, embed };
}

function toServed({ definition, file }: LoadedAgent, cwd: string): Agent {
  try {
    bindEnvironment(definition, { folder: file === undefined ? cwd : dirname(file), variable: readVariable });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`The agent "${definition.name}": ${reason}`, { cause: error });
  }
  return toAgent(definition);
}

/** The function, or the embeddings of LangChain, at the place that the option `items` names. */
async function loadEmbed(
  { items: { embed }, agentsFolder }: Settings,
  generation: number,
): Promise<Embed | undefined> {
  if (typeof embed !== "string" || isProviderModel(embed)) return undefined;
  const { value, file } = await importReference(embed, agentsFolder, generation);
  const found = toEmbed(value);
  if (found) return found;
  throw new StartupError(
    `${file}: the embedding function "${embed}" must be a function of texts that returns vectors, or embeddings of LangChain`,
  );
}

function toEmbed(value: unknown): Embed | undefined {
  if (typeof value === "function") return async texts => value(texts);
  const embeddings = value as { readonly embedDocuments: Embed } | null | undefined;
  return typeof embeddings?.embedDocuments === "function"
    ? texts => embeddings.embedDocuments(texts)
    : undefined;
}

function findDefault(agents: readonly Agent[], wanted: string | undefined): AgentName {
  const names = agents.map(agent => agent.name);
  const found = wanted === undefined ? names[0] : names.find(name => name === wanted);
  if (found !== undefined) return found;
  throw new StartupError(`The default agent "${wanted}" does not exist. Choose one of: ${names.join(", ")}`);
}
