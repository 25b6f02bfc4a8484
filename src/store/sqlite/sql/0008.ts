/** Items: the long-term memory of callers. Schedules: work that is to begin at certain times. */
export const sql = `
-- namespace: each label is followed by a period. vectors: what a search by meaning compares, in base64.
CREATE TABLE item (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  vectors TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ttl_ms INTEGER,
  expires_at INTEGER,
  PRIMARY KEY (tenant, principal, namespace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_by_change ON item (tenant, principal, updated_at DESC, namespace, key);
CREATE INDEX item_by_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;

-- next_at: NULL: no time will come. body: the other members as JSON.
CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  next_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schedule_by_owner ON schedule (tenant, principal, created_at DESC);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL;
`;
