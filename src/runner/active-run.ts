import type { Wakeable } from "../lib/latch.ts";
import type { Run } from "../ports/index.ts";
import type { StopReason } from "./run-states.ts";

/** A run in this process. */
export interface ActiveRun extends Wakeable {
  readonly run: Run;
  /** Renews the lease; false: it is lost, and the agent is told to stop. */
  renew(): Promise<boolean>;
  /** Aborts the agent's signal; after the grace period the run ends without it. */
  stop(reason: StopReason): void;
}

/** Since when a run is leased. */
export interface RunLease {
  /** A lower bound, in ticks. */
  readonly claimedAt: number;
  /** Where the run began before the first commit of its task: resolves with that commit; rejects: the run is lost. */
  readonly recorded?: Promise<void> | undefined;
}
