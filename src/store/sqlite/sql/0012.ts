/** Events of running tasks, before they become segments. */
export const sql = `
-- Rows for \`segment\` in the order of their commits: a commit of many tasks writes one page, and not one for each task. The
-- rows of a task become one segment together. A row whose last event \`segment\` has already is a copy, and is removed later.
CREATE TABLE staged (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  last INTEGER NOT NULL,
  events TEXT NOT NULL
) STRICT;
`;
