/** Loads the agents that the settings name. */
import { basename, dirname } from "node:path";
import { readVariable, readVariables, type Settings } from "../config/config.ts";
import { StartupError } from "../lib/startup-error.ts";
import { findAgents } from "../loader/find-agents.ts";
import { type LoadedAgent, loadAgents } from "../loader/load-agents.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";
import { toAgent } from "../runtime/function/index.ts";
import { createAgent } from "../runtime/index.ts";
import { bindEnvironment } from "../runtime/shared/bind-environment.ts";
import { loadFunctions, type ServerFunctions } from "./load-functions.ts";
import type { ServerPorts } from "./server-ports.ts";

export interface ServedAgents {
  readonly agents: readonly Agent[];
  /** The agent that is served at `/`. */
  readonly defaultAgent: AgentName;
  /** The files that they were loaded from. */
  readonly files: readonly string[];
  /** The functions that the settings name by their files. */
  readonly functions: ServerFunctions;
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
export async function loadServedAgents(
  settings: Settings,
  generation: number,
  runtimes: ServerPorts["runtimes"] = {},
): Promise<ServedAgents> {
  const { agentsFolder: cwd } = settings;
  const variables = readVariables();
  const loaded = await loadAgents(settings.agents, {
    cwd,
    generation,
    createAgent: (spec, load, context) => createAgent(spec, load, { ...context, variables }, runtimes),
  });
  const agents = loaded.agents.map(agent => toServed(agent, cwd));
  const { functions, files } = await loadFunctions(settings, generation);
  const defaultAgent = findDefault(agents, settings.default);
  return { agents, defaultAgent, files: [...loaded.files, ...files], functions };
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

function findDefault(agents: readonly Agent[], wanted: string | undefined): AgentName {
  const names = agents.map(agent => agent.name);
  const first = agents.find(({ policy }) => policy.access !== "internal")?.name ?? names[0];
  const found = wanted === undefined ? first : names.find(name => name === wanted);
  if (found !== undefined) return found;
  throw new StartupError(`The default agent "${wanted}" does not exist. Choose one of: ${names.join(", ")}`);
}
