/** The list of runtimes: an agent in the config is `{ runtime: "openai", name, … }`. */
import {
  type AgentDefinition,
  type AgentSpec,
  definitionError,
  type Load,
  type LoadContext,
} from "../agent/definition.ts";

type Create = (
  spec: AgentSpec,
  load: Load,
  context: LoadContext,
) => AgentDefinition | Promise<AgentDefinition>;

/** A runtime is imported when it is used. */
const RUNTIMES: Readonly<Record<string, () => Promise<Create>>> = {
  "ai-sdk": async () => fromReference("agent", (await import("./ai-sdk/index.ts")).aiSdk),
  langgraph: async () => {
    const create = fromReference("graph", (await import("./langgraph/definition.ts")).toDefinition);
    return (spec, load, context) =>
      isPython(spec.graph) ? createPython(spec, context) : create(spec, load, context);
  },
  openai: async () => fromOptions((await import("./openai/index.ts")).openai),
  process: async () => fromOptions((await import("./process/index.ts")).program),
  remote: async () => fromOptions((await import("./remote/index.ts")).remote),
};

/** The options in the config are those of the function. */
const fromOptions =
  <O>(create: (options: O) => AgentDefinition): Create =>
  ({ runtime: _runtime, ...options }) =>
    create(options as O);

/** The option `option` names an export that the function takes as its first argument. */
const fromReference =
  <S, O>(option: string, create: (source: S, options: O, file: string) => AgentDefinition): Create =>
  async ({ runtime: _runtime, [option]: reference, ...options }, load) => {
    if (typeof reference !== "string")
      throw definitionError(`${option}: expected a file and its export, such as "./agent.ts:${option}"`);
    const { value, file } = await load(reference);
    return create(value as S, options as O, file);
  };

const isPython = (reference: unknown): boolean =>
  typeof reference === "string" && /\.py(?::\w+)?$|^[\w.]+:\w+$/.test(reference) && !isScript(reference);
const isScript = (reference: string): boolean => /\.[cm]?[jt]s(?::|$)/.test(reference);

/** A graph in a Python file or module, such as "./agent.py:graph". */
async function createPython(
  { runtime: _runtime, graph, ...options }: AgentSpec,
  context: LoadContext,
): Promise<AgentDefinition> {
  const { pythonGraph, toReference } = await import("./langgraph/python/index.ts");
  const { definition, files } = await pythonGraph(toReference(graph as string, context), options, context);
  context.watch(files);
  return definition;
}

export const RUNTIME_NAMES: readonly string[] = Object.keys(RUNTIMES);

export async function createAgent(
  spec: AgentSpec,
  load: Load,
  context: LoadContext,
  others: Readonly<Record<string, Create>>,
): Promise<AgentDefinition> {
  if (Object.hasOwn(others, spec.runtime)) return (others[spec.runtime] as Create)(spec, load, context);
  const importRuntime = Object.hasOwn(RUNTIMES, spec.runtime) ? RUNTIMES[spec.runtime] : undefined;
  if (importRuntime) return (await importRuntime())(spec, load, context);
  throw new Error(
    `Unknown runtime "${spec.runtime}"; available: ${[...RUNTIME_NAMES, ...Object.keys(others)].join(", ")}`,
  );
}
