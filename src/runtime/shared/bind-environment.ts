/** What an agent needs to know of where it is served, and learns when it is loaded. */
import type { AgentDefinition } from "../../agent/definition.ts";

export interface Surroundings {
  /** Where relative paths start. */
  readonly folder: string;
  /** A variable of the server's environment. */
  readonly variable: (name: string) => string | undefined;
}

/** Survives two copies of this module in one process, and a definition that is spread into another. */
const EQUIP = Symbol.for("dragoman.equip");

/** A definition that is told its surroundings before it is served; it may throw what is wrong with them. */
export const equippable = (
  definition: AgentDefinition,
  equip: (surroundings: Surroundings) => void,
): AgentDefinition => ({ ...definition, [EQUIP]: equip }) as AgentDefinition;

export function equip(definition: AgentDefinition, surroundings: Surroundings): void {
  const { [EQUIP]: tell } = definition as { [EQUIP]?: (surroundings: Surroundings) => void };
  tell?.(surroundings);
}
