import { dirname } from "node:path";
import type { Settings } from "../../config/config.ts";
import type { Served } from "../../server/load-agents.ts";

/** What a start or a reload brings. */
export interface Loadout extends Pick<Served, "agents" | "fallback"> {
  readonly settings: Settings;
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
  const { readSettings } = await import("../../config/config.ts");
  const { loadServed } = await import("../../server/load-agents.ts");
  const { cwd, generation } = wish;
  const flags = { ...wish.flags, ...(wish.files.length > 0 && { agents: wish.files }) };
  const settings = await readSettings({ cwd, flags, generation });
  const { agents, fallback, files } = await loadServed(settings, generation);
  const folders = [...files, ...settings.configFiles].map(file => dirname(file));
  return { settings, agents, fallback, folders };
}
