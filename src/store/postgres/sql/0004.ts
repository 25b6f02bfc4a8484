/** The nodes of a cluster, and indexes for due tasks and pushes. */
export const sql = `
-- A unique id: clusters that share a notification server receive only their own messages.
CREATE TABLE cluster (id uuid NOT NULL DEFAULT gen_random_uuid());
INSERT INTO cluster DEFAULT VALUES;

-- schema: the newest migration that the node knows. seen: the last heartbeat, by the clock of the database.
CREATE TABLE node (
  id text PRIMARY KEY,
  schema integer NOT NULL,
  seen timestamptz NOT NULL
);

-- Read from owner to owner: a long queue of one owner costs the others nothing.
CREATE INDEX task_in_line ON task (owner, arrived) WHERE state < 2;
DROP INDEX task_unfinished;

-- happened: the newest event of the task. looked: the value of happened at the last claim.
ALTER TABLE push ADD COLUMN happened integer NOT NULL DEFAULT 0;
ALTER TABLE push ADD COLUMN looked integer NOT NULL DEFAULT 0;
-- Subscriptions that may be due; those that wait for new events are not in the index.
CREATE INDEX push_due ON push (task) WHERE state = 'live'
  AND (rung OR next_at IS NOT NULL OR worker IS NOT NULL OR happened > greatest(place, looked));
DROP INDEX push_live;
`;
