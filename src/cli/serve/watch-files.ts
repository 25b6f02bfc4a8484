import { watch } from "node:fs";
import { relative, resolve, sep } from "node:path";

export interface WatchParts {
  readonly folders: readonly string[];
  /** Below these nothing is looked at. */
  readonly ignored: readonly string[];
  /** A change is told after this much quiet: editors write in bursts. */
  readonly quietMs: number;
  onChange(): void;
  onTrouble(error: Error): void;
}

export interface Watching {
  close(): void;
}

/** Looks at whole folders and tells when a file that an agent may be made of has changed. */
export function watchFolders(parts: WatchParts): Watching {
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(parts.onChange, parts.quietMs);
  };
  const watchers = outermost(parts.folders).map(folder => watchFolder(folder, parts, changed));
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watchFolder(folder: string, parts: WatchParts, changed: () => void) {
  const ignore = (name: string) =>
    name.split(sep).some(step => SKIPPED.has(step)) ||
    parts.ignored.some(other => isWithin(other, resolve(folder, name)));
  // Newer Nodes do not even look into what is ignored, which matters for a large node_modules.
  const watcher = watch(folder, { recursive: true, ignore });
  watcher.on("change", (_kind, name) => {
    if (isSource(String(name)) && !ignore(String(name))) changed();
  });
  watcher.on("error", parts.onTrouble);
  return watcher;
}

const SKIPPED = new Set(["node_modules", ".git", ".dragoman"]);

/** Code, and what code reads when it is loaded. */
const isSource = (path: string): boolean => /\.([cm]?[jt]s|json|ya?ml|md|txt)$/.test(path);

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`));
}

/** A folder inside another one is watched with it. */
export function outermost(folders: readonly string[]): readonly string[] {
  const all = [...new Set(folders.map(folder => resolve(folder)))];
  return all.filter(folder => !all.some(other => other !== folder && isWithin(other, folder)));
}

/** Runs work one at a time; calls that come meanwhile become one more run. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  const loop = async () => {
    do {
      again = false;
      await work();
    } while (again);
  };
  return () => {
    if (running) again = true;
    running ??= loop().finally(() => {
      running = undefined;
    });
    return running;
  };
}
