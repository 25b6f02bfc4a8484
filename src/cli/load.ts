import { dirname } from "node:path";
import type { Settings } from "../config/config.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports.ts";
import { Trouble } from "./trouble.ts";

/** What a start or a reload brings. */
export interface Loadout {
  readonly settings: Settings;
  readonly agents: readonly Agent[];
  readonly fallback: AgentName;
  /** Folders whose change may change any of this. */
  readonly folders: readonly string[];
}

export interface LoadWish {
  readonly cwd: string;
  readonly files: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** 0 at the start, then one more at each reload. */
  readonly generation: number;
}

/** Reads the settings and the agents that they name. */
export async function load(wish: LoadWish): Promise<Loadout> {
  const { readSettings } = await import("../config/config.ts");
  const { loadAgents } = await import("../config/load.ts");
  const { toAgent } = await import("../runtime/function.ts");
  const { cwd, generation } = wish;
  const flags = { ...wish.flags, ...(wish.files.length > 0 && { agents: wish.files }) };
  const settings = await readSettings({ cwd, flags, generation });
  const loaded = await loadAgents(settings.agents, { cwd: settings.agentsFolder, generation });
  const agents = loaded.agents.map(one => toAgent(one.definition));
  const folders = [...loaded.files, ...settings.configFiles].map(file => dirname(file));
  return { settings, agents, fallback: chooseFallback(agents, settings.default), folders };
}

/** The agent that answers at `/`. */
export function chooseFallback(agents: readonly Agent[], wanted: string | undefined): AgentName {
  const names = agents.map(agent => agent.name);
  const found = wanted === undefined ? names[0] : names.find(name => name === wanted);
  if (found !== undefined) return found;
  throw new Trouble(`There is no agent "${wanted}" to be the default; there are: ${names.join(", ")}`);
}
