import { LIMITS } from "../../model/index.ts";
import type { Log } from "../../ports/index.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import type { Database } from "./database.ts";

export interface SetBackParts
  extends Pick<StoreParts, "wallTime" | "ticks" | "leaseMs" | "onDue" | "onPushDue"> {
  readonly db: Database;
  readonly pushLeaseMs: number;
  readonly log: Log;
}

/**
 * SQL for the time, in milliseconds, at which leases are compared: the earlier of the clock of the node and the clock of the
 * database. A node that has not yet noticed that the clock of the database was set back takes over no lease.
 */
export const leaseTime = (parameter: string): string =>
  `least(${parameter}::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)`;

/** A smaller difference is measuring inaccuracy and not a clock that was set back. */
const STEP_MS = 1_000;

const SHORTEN_RUNS =
  "UPDATE task SET lease_until = $1::bigint + $2 WHERE state < 2 AND worker IS NOT NULL AND lease_until > $1::bigint + $2 + $3";
const SHORTEN_PUSHES =
  "UPDATE push SET lease_until = $1::bigint + $2 WHERE state = 'live' AND worker IS NOT NULL AND lease_until > $1::bigint + $2 + $3";

/** `wait`: the delay that was planned when the last attempt failed; the kernel computes the same for single-node stores. */
const SHORTEN_WAITS = `
UPDATE push p SET next_at = $1::bigint + l.wait FROM (
  SELECT task, id, greatest(0, coalesce((last ->> 'nextAt')::bigint - (last ->> 'at')::bigint, $2::bigint)) AS wait
  FROM (SELECT task, id, attempts::jsonb -> -1 AS last FROM push WHERE state = 'live' AND next_at > $1::bigint + $3) AS w
) AS l WHERE p.task = l.task AND p.id = l.id AND p.state = 'live' AND p.next_at > $1::bigint + l.wait + $3`;

/** When the clock was set back, a lease is too long if it exceeds the lease time by this share of it. */
const SLACK_AFTER_STEP = 0.1;
/** Otherwise by this multiple: other nodes may be configured with longer leases, but not with so much longer ones. */
const SLACK_MAX = 10;

/**
 * Leases end at a time of the database's clock, and that clock can be set back. A lease that would last too long is cut to
 * one lease time from now: a live holder renews it before that, and the lease of a dead node ends. Retries of push
 * deliveries are cut at the start and when the clock was set back.
 */
export function watchSetBack(parts: SetBackParts) {
  const { db, wallTime, ticks, leaseMs, pushLeaseMs } = parts;
  /** The wall time at tick 0, at the last check. */
  let origin = Number.POSITIVE_INFINITY;
  let isFirst = true;

  async function check(): Promise<void> {
    const current = wallTime() - ticks();
    const isSetBack = !isFirst && current < origin - STEP_MS;
    const slack = isSetBack ? SLACK_AFTER_STEP : SLACK_MAX;
    await db.query(SHORTEN_RUNS, [wallTime(), leaseMs, slack * leaseMs]);
    await db.query(SHORTEN_PUSHES, [wallTime(), pushLeaseMs, slack * pushLeaseMs]);
    if (isFirst || isSetBack) await db.query(SHORTEN_WAITS, [wallTime(), LIMITS.pushRetryMaxMs, STEP_MS]);
    // Only after success: a failed check is repeated.
    isFirst = false;
    origin = current;
    if (!isSetBack) return;
    parts.onDue();
    parts.onPushDue();
  }

  const timer = setInterval(
    () =>
      void check().catch(error =>
        parts.log.debug({ err: error }, "checking for leases and retries that last too long failed"),
      ),
    LIMITS.busPollMs,
  ).unref();
  return { check, close: (): void => clearInterval(timer) };
}
