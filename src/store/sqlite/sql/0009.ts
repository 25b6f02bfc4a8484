/** Records of callers beside their tasks: contexts, assistants, schedules. */
export const sql = `
-- value: JSON. rev: 1 for a new record, one more for each change. expires_at: wall time; NULL: never.
CREATE TABLE resource (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  rev INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant, principal, kind, id)
) STRICT;
CREATE INDEX resource_created ON resource (tenant, principal, kind, created_at, id);
CREATE INDEX resource_updated ON resource (tenant, principal, kind, updated_at, id);
CREATE INDEX resource_expires ON resource (kind, expires_at) WHERE expires_at IS NOT NULL;
`;
