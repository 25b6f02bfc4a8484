/** Agents that a config describes instead of defining them: `{ runtime: "openai", name, … }`. */
import type { AgentDefinition, AgentSpec, Load } from "../agent/definition.ts";

/**
 * Makes an agent of it, or throws what is wrong in words for whoever wrote the config. `folder`: where relative paths start.
 * `load`: imports what a config calls `./file.ts:export`.
 */
export type Maker = (
  spec: AgentSpec,
  folder: string,
  load: Load,
) => AgentDefinition | Promise<AgentDefinition>;

/** By the word after `runtime:`; loaded when it is asked for. */
const MAKERS: Readonly<Record<string, () => Promise<Maker>>> = {
  "ai-sdk": async () => (await import("./ai-sdk/spec.ts")).fromSpec,
  langgraph: async () => (await import("./langgraph/spec.ts")).fromSpec,
  openai: async () => toMaker((await import("./openai/index.ts")).openai),
  process: async () => toMaker((await import("./process/index.ts")).program),
  remote: async () => toMaker((await import("./remote/index.ts")).remote),
};

/** For those that take in code what they take in a config. */
const toMaker =
  <T>(make: (options: T) => AgentDefinition): Maker =>
  ({ runtime: _runtime, ...options }) =>
    make(options as T);

export const RUNTIME_NAMES: readonly string[] = Object.keys(MAKERS);

export async function makeAgent(spec: AgentSpec, folder: string, from: Load): Promise<AgentDefinition> {
  const load = Object.hasOwn(MAKERS, spec.runtime) ? MAKERS[spec.runtime] : undefined;
  if (load) return (await load())(spec, folder, from);
  throw new Error(`There is no runtime "${spec.runtime}"; there are: ${RUNTIME_NAMES.join(", ")}`);
}
