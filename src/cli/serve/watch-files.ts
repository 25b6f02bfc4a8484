import { watch } from "node:fs";
import { relative, resolve, sep } from "node:path";

export interface WatchParts {
  readonly folders: readonly string[];
  /** Changes below these folders are ignored. */
  readonly ignored: readonly string[];
  /** Editors write in bursts: `onChange` is called after this time without a change. */
  readonly quietMs: number;
  onChange(): void;
  onError(error: Error): void;
}

export interface FolderWatcher {
  close(): void;
}

/** Watches folders for changes of files that agents may import or read. */
export function watchFolders(parts: WatchParts): FolderWatcher {
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
  // Newer versions of Node do not watch ignored folders at all, which matters for a large node_modules.
  const watcher = watch(folder, { recursive: true, ignore });
  watcher.on("change", (_kind, name) => {
    if (isSource(String(name)) && !ignore(String(name))) changed();
  });
  watcher.on("error", parts.onError);
  return watcher;
}

const SKIPPED = new Set(["node_modules", ".git", ".dragoman", ".venv", "venv", "__pycache__"]);

/** Code, and files that code reads when it is loaded. */
const isSource = (path: string): boolean => /\.([cm]?[jt]s|py|json|ya?ml|md|txt)$/.test(path);

export function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below === "" || !(below === ".." || below.startsWith(`..${sep}`));
}

/** Without folders that are inside another one. */
export function outermost(folders: readonly string[]): readonly string[] {
  const all = [...new Set(folders.map(folder => resolve(folder)))];
  return all.filter(folder => !all.some(other => other !== folder && isWithin(other, folder)));
}

/** Runs work one at a time; calls during a run cause one more run after it. */
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
