/** Names that callers gave: to tasks (their own ids of them), and to calls (so that a repeated one is known). */
export const sql = `
-- kind: 0 a task's alias, 1 a call's key, 2 a message's id. seq: the event that has the name. digest: what the call said.
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
