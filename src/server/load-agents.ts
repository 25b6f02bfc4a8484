/** From what settings name to agents that can be served. */
import { dirname } from "node:path";
import type { AgentDefinition } from "../agent/definition.ts";
import { ConfigFailure, readVariable, type Settings } from "../config/config.ts";
import { loadAgents } from "../loader/load-agents.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";
import { toAgent } from "../runtime/function/index.ts";
import { makeAgent } from "../runtime/index.ts";
import { equip } from "../runtime/shared/bind-environment.ts";

export interface Served {
  readonly agents: readonly Agent[];
  /** The agent that answers at `/`. */
  readonly fallback: AgentName;
  /** The files that they were loaded from. */
  readonly files: readonly string[];
}

/** `generation`: see `LoadParts`. */
export async function loadServed(settings: Settings, generation: number): Promise<Served> {
  const loaded = await loadAgents(settings.agents, {
    cwd: settings.agentsFolder,
    generation,
    make: makeAgent,
  });
  for (const { definition, file } of loaded.agents)
    settle(definition, file === undefined ? settings.agentsFolder : dirname(file));
  const agents = loaded.agents.map(one => toAgent(one.definition));
  return { agents, fallback: chooseFallback(agents, settings.default), files: loaded.files };
}

/** Tells an agent where it is served. */
function settle(definition: AgentDefinition, folder: string): void {
  try {
    equip(definition, { folder, variable: readVariable });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigFailure([`The agent "${definition.name}": ${reason}`]);
  }
}

function chooseFallback(agents: readonly Agent[], wanted: string | undefined): AgentName {
  const names = agents.map(agent => agent.name);
  const found = wanted === undefined ? names[0] : names.find(name => name === wanted);
  if (found !== undefined) return found;
  const there = names.join(", ");
  throw new ConfigFailure([`There is no agent "${wanted}" to be the default; there are: ${there}`]);
}
