/** Agents that a config describes instead of defining them: `{ runtime: "openai", name, … }`. */
import type { AgentDefinition } from "../agent.ts";

/** What a config says of such an agent; what else it may hold is the maker's affair. */
export interface AgentSpec {
  readonly runtime: string;
  readonly name: string;
  readonly [option: string]: unknown;
}
/** Makes an agent of it, or throws what is wrong in words for whoever wrote the config. `folder`: where relative paths start. */
export type Maker = (spec: AgentSpec, folder: string) => AgentDefinition | Promise<AgentDefinition>;

/** By the word after `runtime:`; loaded when it is asked for. */
const MAKERS: Readonly<Record<string, () => Promise<Maker>>> = {};

export const RUNTIME_NAMES: readonly string[] = Object.keys(MAKERS);

export async function makeAgent(spec: AgentSpec, folder: string): Promise<AgentDefinition> {
  const load = Object.hasOwn(MAKERS, spec.runtime) ? MAKERS[spec.runtime] : undefined;
  if (load) return (await load())(spec, folder);
  throw new Error(`There is no runtime "${spec.runtime}"; there are: ${RUNTIME_NAMES.join(", ")}`);
}
