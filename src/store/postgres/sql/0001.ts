/** The first schema: owners, tasks, segments of logs, names, the storage of agents, usage. */
export const sql = `
-- Ascending over all tasks: the order of lists. A number is drawn before the commit, so visibility in a list is decided
-- by the transaction id (xid) and not by the number.
CREATE SEQUENCE revision;

CREATE TABLE owner (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  principal text NOT NULL,
  agent text NOT NULL,
  UNIQUE (tenant, principal, agent)
);

-- seq: the newest event; every append names the event that it follows, which also fences concurrent writers.
-- attempt: the number of the newest run. state: below 2 the task is unfinished. worker, lease_until: the holder of the run,
-- and when its lease expires. context: a hash of context_id; queries compare both. alone: it does not wait for other tasks
-- of its context. arrived: the place in the queue. since: events up to this one were compacted. alias: the caller's task id.
CREATE TABLE task (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  owner integer NOT NULL,
  context bigint NOT NULL,
  context_id text NOT NULL,
  alone boolean NOT NULL,
  state smallint NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  rev bigint NOT NULL,
  xid xid8 NOT NULL,
  status_at bigint NOT NULL,
  hidden boolean NOT NULL,
  arrived bigint NOT NULL,
  worker text,
  lease_until bigint,
  snapshot_seq integer NOT NULL DEFAULT 0,
  snapshot text,
  since integer NOT NULL DEFAULT 0,
  alias text
) WITH (fillfactor = 80);
CREATE INDEX task_by_owner ON task (owner, rev);
CREATE INDEX task_by_context ON task (context);
CREATE UNIQUE INDEX task_by_alias ON task (owner, alias) WHERE alias IS NOT NULL;
CREATE INDEX task_unfinished ON task (arrived) WHERE state < 2;

-- A row holds the events of one task in one commit; "last" is the number of the last one. Keys ascend with time, so that
-- key ranges can become partitions, and old partitions can be detached.
CREATE TABLE segment (
  task bigint NOT NULL,
  last integer NOT NULL,
  rev bigint,
  xid xid8,
  events text NOT NULL,
  PRIMARY KEY (task, last)
) PARTITION BY RANGE (task);
CREATE TABLE segment_rest PARTITION OF segment DEFAULT;

-- Names of calls. kind: 1 an idempotency key, 2 a message id. seq: the event with the name. digest: of the call's content.
CREATE TABLE name (
  owner integer NOT NULL,
  kind smallint NOT NULL,
  name text NOT NULL,
  task bigint NOT NULL,
  seq integer NOT NULL,
  digest text,
  PRIMARY KEY (owner, kind, name)
);
CREATE INDEX name_by_task ON name (task);

CREATE TABLE shelf (
  owner integer NOT NULL,
  shelf text NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (owner, shelf, key)
);

-- day: days since 1970-01-01, UTC.
CREATE TABLE usage (
  owner integer NOT NULL,
  day integer NOT NULL,
  context_id text NOT NULL,
  counter text NOT NULL,
  total double precision NOT NULL,
  PRIMARY KEY (owner, day, context_id, counter)
);
`;
