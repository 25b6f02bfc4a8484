/** Items: the long-term memory of callers. Schedules: work that is to begin at certain times. */
export const sql = `
-- namespace: each label is followed by a period. vectors: what a search by meaning compares, in base64.
CREATE TABLE item (
  tenant text NOT NULL,
  principal text NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  vectors text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  ttl_ms bigint,
  expires_at bigint,
  PRIMARY KEY (tenant, principal, namespace, key)
);
CREATE INDEX item_by_change ON item (tenant, principal, updated_at DESC);
CREATE INDEX item_by_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;

-- next_at: NULL: no time will come. lease_until: a node is about to begin the work. body: the other members as JSON.
CREATE TABLE schedule (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  principal text NOT NULL,
  next_at bigint,
  lease_until bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  body text NOT NULL
);
CREATE INDEX schedule_by_owner ON schedule (tenant, principal, created_at DESC);
CREATE INDEX schedule_due ON schedule (next_at) WHERE next_at IS NOT NULL;
`;
