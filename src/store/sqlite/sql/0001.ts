/** The first schema: owners, tasks, and the log in segments. */
export const sql = `
-- Owners of tasks: one row for each tenant, principal and agent, so that a list reads one range of one index.
CREATE TABLE owner (
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  agent TEXT NOT NULL,
  UNIQUE (tenant, principal, agent)
) STRICT;

-- key: the ascending integer inside the id; random ids as keys cost four times the insert.
-- rev: the store-wide number of its latest change of status; lists are read in this order.
-- whole: all events of a task that was created and ended in one commit, as most short tasks are; it has no segments.
-- context: the ascending integer inside a context id that the server generated, or a hash of an id that the caller chose.
CREATE TABLE task (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  owner INTEGER NOT NULL,
  context INTEGER NOT NULL,
  context_id TEXT NOT NULL,
  state INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  status_at INTEGER NOT NULL,
  hidden INTEGER NOT NULL,
  snapshot_seq INTEGER NOT NULL,
  snapshot TEXT,
  whole TEXT
) STRICT;
CREATE INDEX task_by_owner ON task (owner, rev);
-- The id of a new context is generated right after its first task: that task is found by its key and needs no entry here.
CREATE INDEX task_by_context ON task (context) WHERE context <> key + 1;
-- state 0 submitted, 1 working: the only rows that a start must read.
CREATE INDEX task_unfinished ON task (key) WHERE state < 2;

-- The log. One row holds all events that one task got in one commit: [[at, event], …], the last one being number "last".
-- rev: set if the status changed in it, so that a list finds the position of a task when its first page was read.
CREATE TABLE segment (
  task INTEGER NOT NULL,
  last INTEGER NOT NULL,
  rev INTEGER,
  events TEXT NOT NULL,
  PRIMARY KEY (task, last)
) STRICT, WITHOUT ROWID;
`;
