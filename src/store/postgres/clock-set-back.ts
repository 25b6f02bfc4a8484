import { LIMITS } from "../../model/index.ts";
import type { Log } from "../../ports/index.ts";
import type { Database } from "./database.ts";

export interface SetBackParts {
  readonly db: Database;
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly leaseMs: number;
  readonly pushLeaseMs: number;
  readonly onDue: () => void;
  readonly onPushDue: () => void;
  readonly log: Log;
}

/**
 * The time in milliseconds by which leases end: the node's and the database's own must both be past it. A node that has not
 * yet learned that the database's clock was set back takes no run from another one.
 */
export const leaseTime = (parameter: string): string =>
  `least(${parameter}::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)`;

/** Below this, a step of the clock is no more than an inexact answer. */
const STEP_MS = 1_000;

const SHORTEN_RUNS =
  "UPDATE task SET lease_until = $1::bigint + $2 WHERE state < 2 AND worker IS NOT NULL AND lease_until > $1::bigint + $2 + $3";
const SHORTEN_PUSHES =
  "UPDATE push SET lease_until = $1::bigint + $2 WHERE state = 'live' AND worker IS NOT NULL AND lease_until > $1::bigint + $2 + $3";

/** `wait`: how long the next attempt was to wait when the last one failed; see `plannedMs`. */
const SHORTEN_WAITS = `
UPDATE push p SET next_at = $1::bigint + l.wait FROM (
  SELECT task, id, greatest(0, coalesce((last ->> 'nextAt')::bigint - (last ->> 'at')::bigint, $2::bigint)) AS wait
  FROM (SELECT task, id, attempts::jsonb -> -1 AS last FROM push WHERE state = 'live' AND next_at > $1::bigint + $3) AS w
) AS l WHERE p.task = l.task AND p.id = l.id AND p.state = 'live' AND p.next_at > $1::bigint + l.wait + $3`;

/** In leases: a clock that was found to be set back leaves no doubt. */
const STEP_SLACK = 0.1;
/** In leases: other nodes may be set to longer ones, but not so much longer. */
const LEASES_MAX = 10;

/**
 * Leases end at a time of the database's clock, and that clock can be set back. A lease that would last far too long ends one
 * lease from now: a holder that is alive renews it before, and that of a node that is gone ends. `slack`: how many leases
 * longer is too long.
 */
async function shortenLeases(
  { db, wallTime, leaseMs, pushLeaseMs }: SetBackParts,
  slack: number,
): Promise<void> {
  await db.query(SHORTEN_RUNS, [wallTime(), leaseMs, slack * leaseMs]);
  await db.query(SHORTEN_PUSHES, [wallTime(), pushLeaseMs, slack * pushLeaseMs]);
}

/** Now and then shortens leases that last too long; retries as well, at the start and when the clock was set back. */
export function watchSetBack(parts: SetBackParts) {
  const { db, wallTime, ticks } = parts;
  /** The wall time at tick 0 at the last look. */
  let origin = Number.POSITIVE_INFINITY;
  let isFirst = true;

  async function look(): Promise<void> {
    const current = wallTime() - ticks();
    const isSetBack = !isFirst && current < origin - STEP_MS;
    await shortenLeases(parts, isSetBack ? STEP_SLACK : LEASES_MAX);
    if (isFirst || isSetBack) await db.query(SHORTEN_WAITS, [wallTime(), LIMITS.pushRetryMaxMs, STEP_MS]);
    // A look that failed is done again.
    isFirst = false;
    origin = current;
    if (!isSetBack) return;
    parts.onDue();
    parts.onPushDue();
  }
  const tryLook = (): void =>
    void look().catch(error =>
      parts.log.debug({ err: error }, "leases and retries cannot be looked through now"),
    );

  const timer = setInterval(tryLook, LIMITS.busPollMs).unref();
  return { look, close: (): void => clearInterval(timer) };
}
