/** The first schema: owners, tasks, the log in segments, names, shelves, usage. */
export const sql = `
-- Ascending, store-wide: lists are read in this order. It is drawn before the commit, so that "committed by then" is
-- told by the transaction (xid) and not by the number.
CREATE SEQUENCE revision;

CREATE TABLE owner (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  principal text NOT NULL,
  agent text NOT NULL,
  UNIQUE (tenant, principal, agent)
);

-- seq: its newest event; every append names the one that it comes after, which is the fence, too.
-- attempt: of its newest run. state: below 2 it wants a run. worker, lease_until: who holds that run, and until when without a renewal.
-- context: an integer for the context; the text is compared as well.
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

-- One row holds all events that one task got in one commit, the last one being number "last". Keys ascend with time, so
-- that ranges of them can become partitions, and old ones be detached.
CREATE TABLE segment (
  task bigint NOT NULL,
  last integer NOT NULL,
  rev bigint,
  xid xid8,
  events text NOT NULL,
  PRIMARY KEY (task, last)
) PARTITION BY RANGE (task);
CREATE TABLE segment_rest PARTITION OF segment DEFAULT;

-- Names of calls. kind: 1 a key, 2 a message's id. seq: the event that has the name. digest: what the call said.
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
