/** Finds the agents among the exports of a file, and validates their definitions. */
import { basename, dirname, extname } from "node:path";
import { toAgentSchemas } from "../agent/agent-schemas.ts";
import { type AgentDefinition, type AgentFunction, agent, isAgent } from "../agent/definition.ts";
import { didYouMean } from "../lib/did-you-mean.ts";
import { formatPath } from "../lib/json-schema-check.ts";
import type { StartupError } from "../lib/startup-error.ts";
import { type DefinitionIssue, FIELD_NAMES, findDefinitionIssue } from "./definition-schema.ts";
import { createLoadError, findLine } from "./load-error.ts";

const EXAMPLE = `Export an agent:
  import { agent } from "dragoman";
  export default agent({
    name: "echo",
    async *run(task, ctx) { yield ctx.text(task.text); },
  });`;

/** A default export that is an agent's definition or just its function, and every export that was made with agent(). */
export function findDefinitions(
  module: Readonly<Record<string, unknown>>,
  file: string,
): readonly AgentDefinition[] {
  const found = new Set<unknown>();
  if (hasRun(module.default)) found.add(module.default);
  for (const exported of Object.values(module)) if (isAgent(exported)) found.add(exported);
  // An incomplete definition: the missing field is the better reason.
  if (found.size === 0 && isObject(module.default)) found.add(module.default);
  if (found.size === 0) throw missingAgent(module, file);
  return [...found].map(exported => toDefinition(exported, file));
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasRun = (value: unknown): boolean =>
  typeof value === "function" || (isObject(value) && "run" in value);

function missingAgent(module: Readonly<Record<string, unknown>>, file: string): StartupError {
  return createLoadError({
    file,
    line: findLine(file, text => text.startsWith("export default")),
    reason: `The file exports no agent: ${describeExports(module)}`,
    hint: `${EXAMPLE}\n(folders and globs skip files whose names begin with _: use such names for helpers)`,
  });
}

function describeExports(module: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(module).slice(0, 5);
  if (names.length === 0) return "it exports nothing";
  if (module.default === undefined) return `its exports (${names.join(", ")}) were not made with agent()`;
  return `its default export is ${Array.isArray(module.default) ? "an array" : `a ${typeof module.default}`}`;
}

/** `file`: the folder of the config, where the config contains the agent itself. */
export function toDefinition(exported: unknown, file: string): AgentDefinition {
  const plain =
    typeof exported === "function" ? { run: exported as AgentFunction } : (exported as AgentDefinition);
  const name = "name" in plain ? plain.name : nameFromFile(file);
  const definition = isAgent(plain) ? plain : { ...plain, name, run: plain.run };
  const issue = findDefinitionIssue(definition);
  if (issue) throw invalidDefinition(issue, file);
  checkSchemas(definition, file);
  return isAgent(plain) ? plain : agent({ ...definition, run: plain.run.bind(plain) });
}

/** Schemas that cannot be checked or shown to callers. */
function checkSchemas(definition: AgentDefinition, file: string): void {
  try {
    toAgentSchemas(definition);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const [key = ""] = /(in|out)put/.exec(reason) ?? [];
    throw createLoadError({
      file,
      line: lineOfKey(file, [key]),
      reason: `The schemas of the agent ${definition.name}: ${reason}`,
      cause: error,
    });
  }
}

/** The name of the file, or of its folder if the file is an index. */
function nameFromFile(file: string): string {
  const name = basename(file, extname(file));
  return name === "index" ? basename(dirname(file)) : name;
}

function invalidDefinition({ path, message, isUnknown }: DefinitionIssue, file: string): StartupError {
  const name = formatPath(path);
  if (isUnknown)
    return createLoadError({
      file,
      line: lineOfKey(file, path),
      reason: `An agent has no ${name}${path.length === 1 ? didYouMean(name, FIELD_NAMES) : ""}`,
      hint: "Rename or remove it",
    });
  return createLoadError({
    file,
    line: lineOfKey(file, path),
    reason: `The agent's ${name} ${message}`,
    hint:
      name === "name" ? 'Give the agent a name: agent({ name: "my-agent", … }), or rename the file' : EXAMPLE,
  });
}

/** An approximation: the first line that contains the innermost key. */
function lineOfKey(file: string, path: readonly PropertyKey[]): number | undefined {
  const key = path.findLast(part => typeof part === "string");
  if (key === undefined) return undefined;
  return findLine(file, text => [`${key}:`, `${key}(`, `"${key}"`].some(spelling => text.includes(spelling)));
}
