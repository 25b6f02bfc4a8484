/** Push configs, and how far each has come in the log of its task. */
export const sql = `
-- config: as JSON, what is secret in it is sealed. turn: it began anew so often; whoever held it before holds it no longer.
-- rung: it is due at once; due: in which order. next_at: when it is tried again after a failure.
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
