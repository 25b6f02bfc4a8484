import { dirname, join } from "node:path";
import { entryOf, FOLDERS, folderOf, isLike } from "./tidy-folders.ts";
import { importsOf, placesOf, type Source, type TreeFile } from "./tidy-tree.ts";

const TYPE = /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:class|interface|type)\s+(\w+)/gm;

/** Types that two files export under one name: `Name: file, file`. */
export function duplicateTypes(sources: readonly Source[]): readonly string[] {
  const files = new Map<string, string[]>();
  for (const { path, code } of sources)
    for (const [, name] of code.matchAll(TYPE))
      files.set(name as string, [...(files.get(name as string) ?? []), path]);
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(", ")}`);
}

/** Pronouns for a person that is not named: say the server, the caller, the task. */
const BANNED = /\b(?:whoever|whomever|somebody|nobody|everybody|anybody|he|his|him|himself|she|hers)\b/gi;

/** Places of banned words: anywhere in sources and documents, in comments and titles of tests. */
export function bannedWords(file: TreeFile): readonly string[] {
  const found = placesOf(file, file.text, BANNED);
  return /^(?:test|bench)\/.*\.ts$|\.test\.ts$/.test(file.path) ? found.filter(isProse) : found;
}

/** Test data is exempt: an agent may be called "nobody". */
const isProse = (line: string): boolean =>
  /^[^:]*:\d+: (?:.*(?:\/\/|\/\*\*).*|\*.*|(?:it|test|describe)\b.*)$/.test(line);

/** The files that a file imports before it runs, and those that only its types need. */
const targetsOf = (source: Source): readonly string[] =>
  importsOf(source)
    .filter(({ from, how }) => from.startsWith(".") && how !== "lazy")
    .map(({ from }) => join(dirname(source.path), from));

/** Groups of files that import each other, types included. */
export function importCycles(sources: readonly Source[]): readonly string[] {
  const graph = new Map(sources.map(source => [source.path, targetsOf(source)]));
  const cycles: string[] = [];
  const state = new Map<string, "open" | "done">();
  const path: string[] = [];
  const visit = (file: string): void => {
    state.set(file, "open");
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      if (state.get(next) === "open") cycles.push([...path.slice(path.indexOf(next)), next].join(" → "));
      else if (graph.has(next) && !state.has(next)) visit(next);
    }
    path.pop();
    state.set(file, "done");
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return cycles;
}

/** Permissions in the table of folders that no import uses. */
export function unusedPermissions(sources: readonly Source[]): readonly string[] {
  const used = new Map<string, Set<string>>();
  for (const source of sources) {
    const own = entryOf(folderOf(source.path)) as string;
    const seen = used.get(own) ?? new Set();
    used.set(own, seen);
    for (const { from, how } of importsOf(source))
      seen.add(
        from.startsWith(".")
          ? `${how === "lazy" ? "lazily " : ""}${folderOf(join(dirname(source.path), from))}`
          : from,
      );
  }
  const isUsed = (folder: string, pattern: string): boolean =>
    [...(used.get(folder) ?? [])].some(name => isLike(pattern, name));
  return Object.entries(FOLDERS).flatMap(([folder, { folders, libraries = [], lazily = [] }]) => [
    ...folders.filter(one => !COMMON.has(one) && !isUsed(folder, one)).map(one => `${folder}: ${one}`),
    ...libraries
      .filter(one => !isUsed(folder, one.replace("node:*", "node:.*")))
      .map(one => `${folder}: ${one}`),
    ...lazily
      .filter(one => !isUsed(folder, `lazily ${one}`) && !isUsed(folder, one))
      .map(one => `${folder}: ${one} (lazily)`),
  ]);
}

/** Every folder may import these. */
const COMMON = new Set(["lib", "model", "ports"]);

/** The exports of a module, values and types, also through other modules. */
export function exportsOf(path: string, sources: ReadonlyMap<string, Source>): readonly string[] {
  const { bare = "" } = sources.get(path) ?? {};
  const declared =
    /^export\s+(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|class|interface|type)\s+(\w+)/gm;
  const names = [...bare.matchAll(declared)].map(found => found[1] as string);
  for (const [, list] of bare.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm))
    names.push(
      ...(list as string)
        .split(",")
        .map(one =>
          one
            .trim()
            .replace(/^type\s+/, "")
            .replace(/^.*\sas\s+/, ""),
        )
        .filter(Boolean),
    );
  for (const [, from] of bare.matchAll(/^export\s+(?:type\s+)?\*\s+from\s+"([^"]+)"/gm))
    names.push(...exportsOf(join(dirname(path), from as string), sources));
  return [...new Set(names)].toSorted();
}
