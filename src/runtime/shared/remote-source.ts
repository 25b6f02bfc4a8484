/** Agents that stand for others: what their cards tell is read from the others' cards. */
import { type AgentDefinition, type ExtendedCard, toCard } from "../../agent/definition.ts";
import type { Outbound, Upstream } from "../../ports/index.ts";

/** What is told of the agent elsewhere. */
export interface Elsewhere {
  look(outbound: Outbound, signal: AbortSignal): Promise<ExtendedCard>;
  close(): void;
}

/** Survives two copies of this module in one process, and a definition that is spread into another. */
const UPSTREAM = Symbol.for("dragoman.upstream");

export const withUpstream = (definition: AgentDefinition, elsewhere: Elsewhere): AgentDefinition =>
  ({ ...definition, [UPSTREAM]: elsewhere }) as AgentDefinition;

export function upstreamOf(definition: AgentDefinition): Upstream | undefined {
  const { [UPSTREAM]: elsewhere } = definition as { [UPSTREAM]?: Elsewhere };
  if (!elsewhere) return undefined;
  return {
    card: async (outbound, signal) => toCard({ ...definition, ...(await elsewhere.look(outbound, signal)) }),
    close: () => elsewhere.close(),
  };
}
