import type { AgentCard } from "../model/index.ts";
import type { Outbound } from "./outbound.ts";

/** The remote agent that a local one forwards to. */
export interface Upstream {
  /** The local card, completed from the remote one. */
  card(outbound: Outbound, signal: AbortSignal): Promise<AgentCard>;
  /** Closes the connections to it. */
  close(): void;
}
