/** The statements that find due tasks, and that claim, renew and end their runs. */

import { contextKey } from "../kernel/context-key.ts";
import { leaseTime } from "./clock-set-back.ts";
import { markPushesDue } from "./pushes.ts";

/** A due task. */
export interface Candidate {
  readonly key: number;
  readonly owner: number;
  readonly context_id: string;
  readonly alone: boolean;
  readonly state: number;
  readonly status_at: number;
}

/** The two integers of the advisory lock under which the next run of a context is chosen. */
export function contextLock(owner: number, contextId: string): readonly [number, number] {
  return [owner, (contextKey(contextId) % 2 ** 31) | 0];
}

/**
 * A task is due if no worker holds it, and no task of its context runs or comes before it. Tasks that have been started
 * come first, then in the order of arrival.
 */
const IS_DUE = `t.state < 2 AND (t.worker IS NULL OR t.lease_until <= ${leaseTime("$1")}) AND (t.alone OR NOT EXISTS (
  SELECT 1 FROM task b WHERE b.context = t.context AND b.owner = t.owner AND b.context_id = t.context_id
    AND b.state < 2 AND NOT b.alone AND b.key <> t.key
    AND (b.lease_until > ${leaseTime("$1")} OR (b.worker IS NULL, b.arrived) < (t.worker IS NULL, t.arrived))))`;

/** Owners after `$1` with unfinished tasks. Skips along the index from owner to owner: a long queue of one owner costs nothing. */
export const OWNERS = `
WITH RECURSIVE waiting AS (
  (SELECT owner, 1 AS nth FROM task WHERE state < 2 AND owner > $1 ORDER BY owner LIMIT 1)
  UNION ALL
  SELECT (SELECT t.owner FROM task t WHERE t.state < 2 AND t.owner > w.owner ORDER BY t.owner LIMIT 1), w.nth + 1
  FROM waiting w WHERE w.owner IS NOT NULL AND w.nth < $2
)
SELECT owner FROM waiting WHERE owner IS NOT NULL ORDER BY nth`;

/**
 * Due tasks of the owners `$3`, at most `$4` of each. The tenants take turns, beginning after the tenant `$6`, and so do the
 * owners of a tenant, beginning with any one of them (`$7`: a different number for each claim).
 */
export const CANDIDATES = `
WITH due AS (
  SELECT t.*, o.tenant, row_number() OVER (PARTITION BY t.owner ORDER BY t.arrived) AS turn
  FROM owner o CROSS JOIN LATERAL (
    SELECT t.key, t.owner, t.context_id, t.alone, t.arrived, t.state, t.status_at FROM task t
    WHERE t.owner = o.id AND ${IS_DUE} ORDER BY t.arrived LIMIT $4
  ) AS t
  WHERE o.id = ANY($3) AND o.agent = ANY($2)
)
SELECT key, owner, context_id, alone, state, status_at,
  row_number() OVER (PARTITION BY tenant ORDER BY turn, hashint4extended(owner, $7), arrived) AS place
FROM due ORDER BY place, tenant COLLATE "C" <= $6, tenant COLLATE "C", arrived LIMIT $5`;

/** One node at a time chooses the next run of a context, so that none chooses by an outdated state of the context. */
export const LOCK_CONTEXTS =
  "SELECT key FROM unnest($1::bigint[], $2::int[], $3::int[], $4::bool[]) AS c(key, owner, line, alone) " +
  "WHERE alone OR pg_try_advisory_xact_lock(owner, line)";

export const CLAIM = `
WITH chosen AS (
  SELECT t.key, t.state, t.status_at FROM task t WHERE t.key = ANY($2::bigint[]) AND ${IS_DUE}
  ORDER BY t.key FOR UPDATE SKIP LOCKED
), begun AS (
  UPDATE task t SET
    worker = $3, lease_until = $1::bigint + $4::bigint, seq = t.seq + 1, attempt = t.attempt + 1, state = 1,
    rev = CASE WHEN c.state = 0 THEN nextval('revision') ELSE t.rev END,
    xid = CASE WHEN c.state = 0 THEN pg_current_xact_id() ELSE t.xid END,
    status_at = CASE WHEN c.state = 0 THEN greatest($5::bigint, t.status_at) ELSE t.status_at END
  FROM chosen c WHERE t.key = c.key
  RETURNING t.key, t.id, t.seq, t.rev, t.attempt, c.state AS before, c.status_at AS due_at, greatest($5::bigint, c.status_at) AS at
), written AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT key, seq, CASE WHEN before = 0 THEN rev END, CASE WHEN before = 0 THEN pg_current_xact_id() END,
    '[[' || at || ',{"type":"started","attempt":' || attempt || '}]]' FROM begun
), rung AS (${markPushesDue("begun")})
SELECT key, id, attempt, before, due_at, seq, at, key IN (SELECT task FROM rung) AS pushed FROM begun`;

/** Candidates that the claim with this lease has claimed. */
export const CLAIMED =
  "SELECT key, id, attempt FROM task WHERE key = ANY($1) AND worker = $2 AND lease_until = $3 AND state = 1";

export const RENEW = `
WITH held AS MATERIALIZED (
  SELECT t.key FROM unnest($2::uuid[], $3::text[], $4::int[]) AS r(id, worker, attempt) JOIN task t ON t.id = r.id
  WHERE t.worker = r.worker AND t.attempt = r.attempt AND t.state = 1 ORDER BY t.key FOR UPDATE OF t
)
UPDATE task t SET lease_until = $1 FROM held WHERE t.key = held.key RETURNING t.id`;

/**
 * Ends the leases of runs that cannot go on: their tasks are due at once, and their next attempts come after a crash. The
 * worker becomes '' and not NULL, because a task that has been started has one and comes before others of its context.
 */
export const END_LEASES = `
WITH held AS MATERIALIZED (
  SELECT t.key FROM unnest($1::uuid[], $2::text[], $3::int[]) AS r(id, worker, attempt) JOIN task t ON t.id = r.id
  WHERE t.worker = r.worker AND t.attempt = r.attempt AND t.state = 1 ORDER BY t.key FOR UPDATE OF t
)
UPDATE task t SET worker = '', lease_until = 0 FROM held WHERE t.key = held.key`;

export const UNFINISHED =
  "SELECT o.agent, count(*)::int AS tasks FROM task t JOIN owner o ON o.id = t.owner WHERE t.state < 2 GROUP BY 1";
export const WAITING = "SELECT count(*)::int AS tasks FROM task WHERE state < 2 AND worker IS NULL";

/** Owners among `$1` that have a waiting task. */
export const WAITING_OWNERS =
  "SELECT DISTINCT owner FROM task WHERE state < 2 AND worker IS NULL AND owner = ANY($1::int[])";

export const OLDEST_DUE = `SELECT t.status_at AS at FROM task t WHERE t.worker IS NULL AND ${IS_DUE} ORDER BY t.arrived LIMIT 1`;
