/** Agents that forward to a remote agent: their card is completed from the remote card. */
import { type AgentDefinition, type ExtendedCard, toCard } from "../../agent/definition.ts";
import type { Outbound, Upstream } from "../../ports/index.ts";

export interface UpstreamSource {
  readCard(outbound: Outbound, signal: AbortSignal): Promise<ExtendedCard>;
  close(): void;
}

/** A global symbol, so that two copies of this module agree; it survives spreading a definition into another. */
const UPSTREAM = Symbol.for("dragoman.upstream");

export const withUpstream = (definition: AgentDefinition, source: UpstreamSource): AgentDefinition =>
  ({ ...definition, [UPSTREAM]: source }) as AgentDefinition;

export function toUpstream(definition: AgentDefinition): Upstream | undefined {
  const { [UPSTREAM]: source } = definition as { [UPSTREAM]?: UpstreamSource };
  if (!source) return undefined;
  return {
    inputModes: definition.inputModes ?? ["*/*"],
    card: async (outbound, signal) => toCard({ ...definition, ...(await source.readCard(outbound, signal)) }),
    close: () => source.close(),
  };
}
