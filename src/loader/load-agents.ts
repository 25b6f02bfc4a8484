/** Loads agents from files, globs, folders and objects. */
import {
  type AgentDefinition,
  type AgentSpec,
  type Load,
  type LoadContext,
  SourceError,
} from "../agent/definition.ts";
import { StartupError } from "../lib/startup-error.ts";
import { findDefinitions, toDefinition } from "./definition.ts";
import { exampleFiles, findFiles } from "./find-files.ts";
import { importFile, importReference } from "./import-file.ts";
import { createLoadError } from "./load-error.ts";

export type AgentSource = string | AgentDefinition | AgentSpec;

export interface LoadParts {
  /** The folder where relative names start. */
  readonly cwd: string;
  /** Above 0: agent files and their imports are imported again, once for each number. */
  readonly generation: number;
  /** Creates an agent from its description in a config: `{ runtime: "openai", … }`. */
  readonly createAgent: (
    spec: AgentSpec,
    load: Load,
    context: Omit<LoadContext, "variables">,
  ) => Promise<AgentDefinition>;
}
const isSpec = (source: object): source is AgentSpec => "runtime" in source && !("run" in source);

export interface LoadedAgent {
  readonly definition: AgentDefinition;
  /** undefined: the config contains the agent itself. */
  readonly file: string | undefined;
}

export interface LoadedAgents {
  readonly agents: readonly LoadedAgent[];
  /** The agent files and their imports outside node_modules and outside this server: a reload depends on them. */
  readonly files: readonly string[];
}

/** Loads agents in the order of `sources`; without sources, the bundled examples. */
export async function loadAgents(sources: readonly AgentSource[], parts: LoadParts): Promise<LoadedAgents> {
  const agents: LoadedAgent[] = [];
  const files = new Set<string>();
  for (const source of await expand(sources, parts.cwd)) {
    if (typeof source !== "string") {
      const definition = isSpec(source) ? await createFromSpec(source, parts, files) : source;
      agents.push({ definition: toDefinition(definition, parts.cwd), file: undefined });
      continue;
    }
    const imported = await importFile(source, parts.generation);
    for (const file of imported.files) files.add(file);
    for (const definition of findDefinitions(imported.module, source))
      agents.push({ definition, file: source });
  }
  checkNames(agents, parts.cwd);
  return { agents, files: [...files] };
}

/** Adds the files that it imports to `files`. */
async function createFromSpec(
  spec: AgentSpec,
  parts: LoadParts,
  files: Set<string>,
): Promise<AgentDefinition> {
  const watch = (found: readonly string[]): void => {
    for (const file of found) files.add(file);
  };
  const load: Load = async reference => {
    const imported = await importReference(reference, parts.cwd, parts.generation);
    watch(imported.files);
    return imported;
  };
  try {
    return await parts.createAgent(spec, load, { folder: parts.cwd, watch });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (error instanceof SourceError) {
      const { file, line, message: reason, hint } = error;
      throw createLoadError({ file, line, reason, hint, cause: error });
    }
    const reason = `The agent "${spec.name}": ${error instanceof Error ? error.message : String(error)}`;
    throw createLoadError({ file: parts.cwd, reason, hint: "Correct it in the config" });
  }
}

/** A file that several sources name, such as a glob and its own name, is loaded once. */
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
  for (const agent of agents) {
    const { name } = agent.definition;
    const other = byName.get(name);
    if (other) {
      const first = other.file ?? "the config";
      throw createLoadError({
        file: agent.file ?? cwd,
        reason: `The agent name "${name}" is used ${first === agent.file ? "twice in this file" : `here and in ${first}`}`,
        hint: "Give one of them another name",
      });
    }
    byName.set(name, agent);
  }
}
