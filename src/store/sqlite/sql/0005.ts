/** Agent storage. */
export const sql = `
-- shelf: the storage area: the id of a context, or a name that begins with @.
CREATE TABLE shelf (
  owner INTEGER NOT NULL,
  shelf TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (owner, shelf, key)
) STRICT, WITHOUT ROWID;
`;
