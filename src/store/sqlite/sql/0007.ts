/** Where updates of tasks are to be delivered to, and how far that has come. */
export const sql = `
-- place: events up to this one are delivered. next_at: when another attempt is due; NULL: when something happens.
-- state: 0 live, 1 done, 2 given up. more: the rest as JSON, what is secret in it being sealed.
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
