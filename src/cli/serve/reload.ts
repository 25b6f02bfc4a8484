import type { Running } from "../../server/create-server.ts";
import { CLI_LIMITS } from "../limits.ts";
import { messageOf } from "../terminal/errors.ts";
import type { Output } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Loadout } from "./load.ts";
import { oneAtATime, outermost, type Watching, watchFolders } from "./watch-files.ts";

export interface ReloadParts {
  readonly terminal: Pick<Terminal, "sinceStartMs">;
  readonly output: Output;
  readonly json: boolean;
  readonly server: Running;
  readonly first: Loadout;
  load(generation: number): Promise<Loadout>;
}

export interface Reloading {
  close(): void;
}

/** Loads agents again when their files change. The server, its tasks and its runs stay. */
export function startReloading(parts: ReloadParts): Reloading {
  let generation = 0;
  let closed = false;
  let folders = outermost(parts.first.folders);
  let watching = watch(folders);

  function watch(at: readonly string[]): Watching {
    const ignored = [parts.first.settings.data];
    const onTrouble = (error: Error) =>
      parts.output.alert(`no longer watching for changes: ${error.message}`);
    return watchFolders({ folders: at, ignored, quietMs: CLI_LIMITS.quietMs, onChange, onTrouble });
  }

  /** A new agent may lie in another folder. */
  function watchAgain(loadout: Loadout): void {
    const now = outermost(loadout.folders);
    if (closed || now.join() === folders.join()) return;
    watching.close();
    folders = now;
    watching = watch(folders);
  }

  const reload = oneAtATime(async () => {
    const begun = parts.terminal.sinceStartMs();
    try {
      const loadout = await parts.load(++generation);
      if (closed) return;
      parts.server.replaceAgents(loadout.agents, loadout.fallback);
      tell(parts, loadout, parts.terminal.sinceStartMs() - begun);
      watchAgain(loadout);
    } catch (error) {
      parts.output.alert(`${messageOf(error)}\nnot reloaded; the agents that were loaded before go on`);
    }
  });
  function onChange(): void {
    void reload();
  }

  return {
    close() {
      closed = true;
      watching.close();
    },
  };
}

function tell({ output, json }: ReloadParts, loadout: Loadout, tookMs: number): void {
  const agents = loadout.agents.map(agent => agent.name);
  const reloadedMs = Math.round(tookMs);
  if (json) output.json({ reloaded: true, reloadedMs, agents });
  else output.line(`reloaded in ${reloadedMs} ms: ${agents.join(", ")}`);
}
