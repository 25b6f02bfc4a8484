/** Gives an agent the folder and the environment variables of the server when it is loaded. */
import type { AgentDefinition } from "../../agent/definition.ts";

export interface Environment {
  /** The base of relative paths. */
  readonly folder: string;
  /** Reads a variable of the server's environment. */
  readonly variable: (name: string) => string | undefined;
}

/** A global symbol, so that two copies of this module agree; it survives spreading a definition into another. */
const BIND = Symbol.for("dragoman.equip");

/** `bind` is called before the agent is served; it may throw, for example if a variable is not set. */
export const withEnvironment = (
  definition: AgentDefinition,
  bind: (environment: Environment) => void,
): AgentDefinition => ({ ...definition, [BIND]: bind }) as AgentDefinition;

export function bindEnvironment(definition: AgentDefinition, environment: Environment): void {
  (definition as { [BIND]?: (environment: Environment) => void })[BIND]?.(environment);
}
