/** Push configs and the progress of their deliveries. */
export const sql = `
-- place: events up to this one are delivered. next_at: the time of the next attempt; NULL: at the next event.
-- state: 0 live, 1 done, 2 given up. more: the rest as JSON, with encrypted secrets.
CREATE TABLE push (
  nr INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  id TEXT NOT NULL,
  host TEXT NOT NULL,
  state INTEGER NOT NULL,
  place INTEGER NOT NULL,
  next_at INTEGER,
  more TEXT NOT NULL,
  UNIQUE (task, id)
) STRICT;
CREATE INDEX push_live ON push (next_at) WHERE state = 0;
`;
