import type { RunningServer } from "../../server/create-server.ts";
import { CLI_LIMITS } from "../limits.ts";
import { messageOf } from "../terminal/errors.ts";
import type { Output } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { LoadResult } from "./load.ts";
import { type FolderWatcher, oneAtATime, outermost, watchFolders } from "./watch-files.ts";

export interface ReloadParts {
  readonly terminal: Pick<Terminal, "sinceStartMs">;
  readonly output: Output;
  readonly json: boolean;
  readonly server: RunningServer;
  readonly first: LoadResult;
  load(generation: number): Promise<LoadResult>;
}

export interface Reloader {
  close(): void;
}

/** Loads agents again when their files change. The server, its tasks and its runs continue. */
export function startReloader(parts: ReloadParts): Reloader {
  let generation = 0;
  let closed = false;
  let folders = outermost(parts.first.folders);
  let watcher = watch(folders);

  function watch(watched: readonly string[]): FolderWatcher {
    const ignored = [parts.first.settings.data];
    const onError = (error: Error) => parts.output.alert(`no longer watching for changes: ${error.message}`);
    return watchFolders({ folders: watched, ignored, quietMs: CLI_LIMITS.reloadDelayMs, onChange, onError });
  }

  /** A new agent may be in another folder. */
  function watchAgain(loaded: LoadResult): void {
    const current = outermost(loaded.folders);
    if (closed || current.join() === folders.join()) return;
    watcher.close();
    folders = current;
    watcher = watch(folders);
  }

  const reload = oneAtATime(async () => {
    const startedMs = parts.terminal.sinceStartMs();
    try {
      const loaded = await parts.load(++generation);
      if (closed) return;
      parts.server.replaceAgents(loaded.agents, loaded.defaultAgent);
      report(parts, loaded, parts.terminal.sinceStartMs() - startedMs);
      watchAgain(loaded);
    } catch (error) {
      parts.output.alert(`${messageOf(error)}\nnot reloaded; the previous agents are still served`);
    }
  });
  function onChange(): void {
    void reload();
  }

  return {
    close() {
      closed = true;
      watcher.close();
    },
  };
}

function report({ output, json }: ReloadParts, loaded: LoadResult, tookMs: number): void {
  const agents = loaded.agents.map(agent => agent.name);
  const reloadedMs = Math.round(tookMs);
  if (json) output.json({ reloaded: true, reloadedMs, agents });
  else output.line(`reloaded in ${reloadedMs} ms: ${agents.join(", ")}`);
}
