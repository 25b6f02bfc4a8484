import { LIMITS } from "../../model/index.ts";
import type { PushAttempt } from "../../ports/index.ts";

/** How long the next attempt was to wait when this one failed. A clock that was set back must not make it wait longer. */
export function plannedMs(attempt: Pick<PushAttempt, "at" | "nextAt"> | undefined): number {
  if (attempt?.nextAt === undefined) return LIMITS.pushRetryMaxMs;
  return Math.max(0, attempt.nextAt - attempt.at);
}
