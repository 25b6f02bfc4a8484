/** Usage: one row for each caller, agent, day, context and counter. */
export const sql = `
-- day: days since 1970-01-01, UTC.
CREATE TABLE usage (
  owner INTEGER NOT NULL,
  day INTEGER NOT NULL,
  context_id TEXT NOT NULL,
  counter TEXT NOT NULL,
  total REAL NOT NULL,
  PRIMARY KEY (owner, day, context_id, counter)
) STRICT, WITHOUT ROWID;
`;
