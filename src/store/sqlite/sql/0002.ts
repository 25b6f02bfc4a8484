/** Names that callers gave: to tasks (their own ids), and to calls (so that a repeated call is recognized). */
export const sql = `
-- alias: the caller's own id of the task. A task has at most one, which never changes: it needs no row of its own.
ALTER TABLE task ADD COLUMN alias TEXT;
CREATE UNIQUE INDEX task_by_alias ON task (owner, alias) WHERE alias IS NOT NULL;

-- Names of calls. kind: 1 an idempotency key, 2 a message id. seq: the event that has the name. digest: hash of the call.
CREATE TABLE name (
  owner INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  task INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  digest TEXT,
  PRIMARY KEY (owner, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX name_by_task ON name (task);
`;
