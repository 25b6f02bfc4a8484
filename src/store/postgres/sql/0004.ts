/** Nodes that know of each other, and what makes it cheap to look for what is due. */
export const sql = `
-- Like no other: nodes that share a bell with those of another database hear only their own.
CREATE TABLE cluster (id uuid NOT NULL DEFAULT gen_random_uuid());
INSERT INTO cluster DEFAULT VALUES;

-- schema: the newest migration that it knows. seen: by the clock of the database.
CREATE TABLE node (
  id text PRIMARY KEY,
  schema integer NOT NULL,
  seen timestamptz NOT NULL
);

-- From caller to caller: a long line of one costs the others nothing.
CREATE INDEX task_in_line ON task (owner, arrived) WHERE state < 2;
DROP INDEX task_unfinished;

-- happened: the newest event of its task. looked: the same, when somebody last looked whether there is anything to deliver.
ALTER TABLE push ADD COLUMN happened integer NOT NULL DEFAULT 0;
ALTER TABLE push ADD COLUMN looked integer NOT NULL DEFAULT 0;
-- Those that may be due: whoever waits for something to happen costs nothing.
CREATE INDEX push_due ON push (task) WHERE state = 'live'
  AND (rung OR next_at IS NOT NULL OR worker IS NOT NULL OR happened > greatest(place, looked));
DROP INDEX push_live;
`;
