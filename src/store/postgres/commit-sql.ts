/**
 * The statement of a commit: it inserts new tasks, appends to others, or does both. No join depends on statistics: each row
 * is found by its key, because the plan is kept.
 */
import type { Statement } from "./database.ts";
import { markPushesDue } from "./pushes.ts";

/** A text that has JSON for each row: see `toJsonList`. */
const JSON_LIST = "json list";

/** `unnest` of one list for each type; the parameters are numbered from `first`. */
const unnest = (first: number, types: readonly string[]): string =>
  `unnest(${types
    .map((type, i) =>
      type === JSON_LIST ? `string_to_array($${first + i}::text, E'\\x01')` : `$${first + i}::${type}[]`,
    )
    .join(", ")})`;

const NEW_COLUMNS = {
  id: "uuid",
  owner: "int",
  context: "bigint",
  context_id: "text",
  alone: "bool",
  state: "smallint",
  seq: "int",
  status_at: "bigint",
  hidden: "bool",
  alias: "text",
  events: JSON_LIST,
  attempt: "int",
  worker: "text",
  snapshot: "text",
};
const NEW_TYPES = Object.values(NEW_COLUMNS);
/** One array for each column, and the time until which the begun runs are leased. */
const INSERT_PARAMETERS = NEW_TYPES.length + 1;

const INSERT_PARTS = `added AS (
  SELECT nextval('task_key_seq') AS key, nextval('revision') AS rev, n.*
  FROM ${unnest(1, NEW_TYPES)} AS n(${Object.keys(NEW_COLUMNS)})
), made AS (
  INSERT INTO task (key, id, owner, context, context_id, alone, state, seq, rev, xid, status_at, hidden, arrived, alias,
    attempt, worker, lease_until, snapshot_seq, snapshot)
  OVERRIDING SYSTEM VALUE
  SELECT key, id, owner, context, context_id, alone, state, seq, rev, pg_current_xact_id(), status_at, hidden,
    nextval('revision'), alias, attempt, worker, CASE WHEN worker IS NOT NULL THEN $${INSERT_PARAMETERS}::bigint END,
    CASE WHEN snapshot IS NULL THEN 0 ELSE seq END, snapshot FROM added
), begun AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT key, seq, rev, pg_current_xact_id(), events FROM added
)`;
const INSERTED = "SELECT key, id, false AS pushed FROM added";

const CHANGES = {
  key: "bigint",
  old: "int",
  new: "int",
  state: "smallint",
  moved: "bool",
  arrives: "bool",
  freed: "bool",
  status_at: "bigint",
  hidden: "bool",
  snapshot: "text",
  events: JSON_LIST,
};

/** Rows are locked in the order of their keys, so that two nodes cannot deadlock. */
const updateParts = (first: number): string => `locked AS MATERIALIZED (
  SELECT c.* FROM ${unnest(first, Object.values(CHANGES))} AS c(${Object.keys(CHANGES)})
  JOIN task t ON t.key = c.key AND t.seq = c.old ORDER BY t.key FOR UPDATE OF t
), changed AS (
  UPDATE task t SET
    seq = c.new,
    state = c.state,
    status_at = c.status_at,
    hidden = c.hidden,
    rev = CASE WHEN c.moved THEN nextval('revision') ELSE t.rev END,
    xid = CASE WHEN c.moved THEN pg_current_xact_id() ELSE t.xid END,
    arrived = CASE WHEN c.arrives THEN nextval('revision') ELSE t.arrived END,
    worker = CASE WHEN c.freed THEN NULL ELSE t.worker END,
    lease_until = CASE WHEN c.freed THEN NULL ELSE t.lease_until END,
    snapshot_seq = CASE WHEN c.snapshot IS NULL THEN t.snapshot_seq ELSE c.new END,
    snapshot = coalesce(c.snapshot, t.snapshot)
  FROM locked c WHERE t.key = c.key AND t.seq = c.old
  RETURNING t.key, t.id, t.seq, t.rev, c.moved, c.events
), written AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT key, seq, CASE WHEN moved THEN rev END, CASE WHEN moved THEN pg_current_xact_id() END, events FROM changed
), rung AS (${markPushesDue("changed")})`;
const UPDATED = "SELECT key, id, key IN (SELECT task FROM rung) AS pushed FROM changed";

export const INSERT: Statement = { name: "insert_tasks", text: `WITH ${INSERT_PARTS} ${INSERTED}` };
export const UPDATE: Statement = { name: "update_tasks", text: `WITH ${updateParts(1)} ${UPDATED}` };
/** The parameters of `INSERT`, then those of `UPDATE`. */
export const INSERT_AND_UPDATE: Statement = {
  name: "insert_tasks_and_update_tasks",
  text: `WITH ${INSERT_PARTS}, ${updateParts(INSERT_PARAMETERS + 1)} ${INSERTED} UNION ALL ${UPDATED}`,
};
