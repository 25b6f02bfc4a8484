import { dirname } from "node:path";
import type { Settings } from "../../config/config.ts";
import type { ServedAgents } from "../../server/load-agents.ts";

/** The result of a start or a reload. */
export interface LoadResult extends Pick<ServedAgents, "agents" | "defaultAgent" | "functions"> {
  readonly settings: Settings;
  /** Why these agents are served, in words. */
  readonly reason: string;
  /** A change in one of these folders may change the result. */
  readonly folders: readonly string[];
}

export interface LoadRequest {
  readonly cwd: string;
  readonly files: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** 0 at the start, then one more at each reload. */
  readonly generation: number;
}

/** Reads the settings and the agents that they name. */
export async function load(request: LoadRequest): Promise<LoadResult> {
  const { readSettings } = await import("../../config/config.ts");
  const { findServedAgents, loadServedAgents } = await import("../../server/load-agents.ts");
  const { cwd, generation } = request;
  const flags = { ...request.flags, ...(request.files.length > 0 && { agents: request.files }) };
  const { settings, reason } = findServedAgents(await readSettings({ cwd, flags, generation }));
  const { agents, defaultAgent, functions, files } = await loadServedAgents(settings, generation);
  const folders = [...files, ...settings.configFiles].map(file => dirname(file));
  return { settings, reason, agents, defaultAgent, functions, folders };
}
