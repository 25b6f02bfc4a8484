/** Push subscriptions: configs, and the progress of their delivery. */
export const sql = `
-- config: JSON with encrypted secrets. turn: the fencing number; it grows with every claim and restart, and ends earlier
-- claims. place: the cursor. rung: due at once; due: in which order. next_at: the time of the next attempt after a failure.
CREATE TABLE push (
  task bigint NOT NULL,
  id text NOT NULL,
  nth bigint GENERATED ALWAYS AS IDENTITY,
  host text NOT NULL,
  key text NOT NULL,
  opening text NOT NULL,
  config text NOT NULL,
  set_at bigint NOT NULL,
  start integer NOT NULL,
  place integer NOT NULL,
  until integer,
  state text NOT NULL,
  failed_count integer,
  failed_since bigint,
  next_at bigint,
  attempts text NOT NULL DEFAULT '[]',
  turn integer NOT NULL DEFAULT 0,
  rung boolean NOT NULL DEFAULT true,
  due bigint NOT NULL DEFAULT nextval('revision'),
  worker text,
  lease_until bigint,
  PRIMARY KEY (task, id)
);
CREATE INDEX push_live ON push (task) WHERE state = 'live';
`;
