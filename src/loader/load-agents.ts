/** From files, globs and folders to agents. */
import type { AgentDefinition, AgentSpec, Load } from "../agent/definition.ts";
import { definitionsOf, toDefinition } from "./definition.ts";
import { importReference } from "./export-reference.ts";
import { exampleFiles, findFiles } from "./find-files.ts";
import { importFile } from "./import-file.ts";
import { LoadFailure } from "./load-error.ts";

export type AgentSource = string | AgentDefinition | AgentSpec;

export interface LoadParts {
  /** Where relative names start. */
  readonly cwd: string;
  /** 0: as at any start; above: agent files and what they import are imported afresh, once for each number. */
  readonly generation: number;
  /** Makes an agent of what a config describes: `{ runtime: "openai", … }`. */
  readonly make: (spec: AgentSpec, folder: string, load: Load) => Promise<AgentDefinition>;
}
const isSpec = (source: object): source is AgentSpec => "runtime" in source && !("run" in source);

export interface LoadedAgent {
  readonly definition: AgentDefinition;
  /** undefined: it was handed in as an object. */
  readonly file: string | undefined;
}

export interface Loaded {
  readonly agents: readonly LoadedAgent[];
  /** The agent files and what they import, outside node_modules and outside this server: what a reload depends on. */
  readonly files: readonly string[];
}

/** Agents in the order in which they were named; without a name the bundled examples. Throws a LoadFailure. */
export async function loadAgents(sources: readonly AgentSource[], parts: LoadParts): Promise<Loaded> {
  const agents: LoadedAgent[] = [];
  const files = new Set<string>();
  for (const source of await expand(sources, parts.cwd)) {
    if (typeof source !== "string") {
      const definition = isSpec(source) ? await make(source, parts, files) : source;
      agents.push({ definition: toDefinition(definition, parts.cwd), file: undefined });
      continue;
    }
    const imported = await importFile(source, parts.generation);
    for (const file of imported.files) files.add(file);
    for (const definition of definitionsOf(imported.module, source))
      agents.push({ definition, file: source });
  }
  checkNames(agents, parts.cwd);
  return { agents, files: [...files] };
}

/** `files`: gets those that it took. */
async function make(spec: AgentSpec, parts: LoadParts, files: Set<string>): Promise<AgentDefinition> {
  const load: Load = async reference => {
    const referred = await importReference(reference, parts.cwd, parts.generation);
    for (const file of referred.files) files.add(file);
    return referred;
  };
  try {
    return await parts.make(spec, parts.cwd, load);
  } catch (error) {
    if (error instanceof LoadFailure) throw error;
    const reason = `The agent "${spec.name}": ${error instanceof Error ? error.message : String(error)}`;
    throw new LoadFailure({ file: parts.cwd, reason, cure: "Correct it in the config" });
  }
}

/** A file that is named twice, say by itself and by a glob, is one file. */
async function expand(sources: readonly AgentSource[], cwd: string): Promise<ReadonlySet<AgentSource>> {
  if (sources.length === 0) return new Set(exampleFiles());
  const expanded = new Set<AgentSource>();
  for (const source of sources) {
    if (typeof source !== "string") expanded.add(source);
    else for (const file of await findFiles(source, cwd)) expanded.add(file);
  }
  return expanded;
}

function checkNames(agents: readonly LoadedAgent[], cwd: string): void {
  const byName = new Map<string, LoadedAgent>();
  for (const one of agents) {
    const other = byName.get(one.definition.name);
    if (other) throw twice(one, other, cwd);
    byName.set(one.definition.name, one);
  }
}

function twice(one: LoadedAgent, other: LoadedAgent, cwd: string): LoadFailure {
  const { name } = one.definition;
  const first = other.file ?? "the config";
  const where = first === one.file ? "twice in this file" : `here and in ${first}`;
  return new LoadFailure({
    file: one.file ?? cwd,
    reason: `The agent name "${name}" is used ${where}`,
    cure: "Give one of them another name",
  });
}
