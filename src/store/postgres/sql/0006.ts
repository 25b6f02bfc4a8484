/** Records of callers beside their tasks: contexts, assistants, schedules. */
export const sql = `
-- value: JSON. rev: 1 for a new record, one more for each change. expires_at: wall time; NULL: never.
CREATE TABLE resource (
  tenant text NOT NULL,
  principal text NOT NULL,
  kind text NOT NULL,
  id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint,
  rev integer NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (tenant, principal, kind, id)
);
CREATE INDEX resource_created ON resource (tenant, principal, kind, created_at, id);
CREATE INDEX resource_updated ON resource (tenant, principal, kind, updated_at, id);
CREATE INDEX resource_expires ON resource (kind, expires_at) WHERE expires_at IS NOT NULL;
`;
