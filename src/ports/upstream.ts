import type { AgentCard } from "../model/index.ts";
import type { Outbound } from "./outbound.ts";

/** What the card of an agent is copied from that stands for one somewhere else. */
export interface Upstream {
  /** Ours with what theirs says. */
  card(outbound: Outbound, signal: AbortSignal): Promise<AgentCard>;
  /** Ends what was opened for it. */
  close(): void;
}
