import type { AgentCard } from "../model/index.ts";
import type { Outbound } from "./outbound.ts";

/** The remote agent that a local one forwards to. */
export interface Upstream {
  /** What the operator lets through; the modes in the remote card are for the remote agent to enforce. */
  readonly inputModes: readonly string[];
  /** The local card, completed from the remote one. */
  card(outbound: Outbound, signal: AbortSignal): Promise<AgentCard>;
  /** Closes the connections to it. */
  close(): void;
}
