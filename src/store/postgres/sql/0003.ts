/** Access tokens, and the encryption keys of a cluster that is configured without keys. */
export const sql = `
-- change: ascending, so that nodes can poll for changes.
CREATE SEQUENCE token_change;
CREATE TABLE token (
  id text PRIMARY KEY,
  hash text NOT NULL UNIQUE,
  name text,
  principal text NOT NULL,
  tenants text NOT NULL,
  grants text NOT NULL,
  agents text,
  created bigint NOT NULL,
  expires bigint,
  revoked bigint,
  used bigint,
  change bigint NOT NULL DEFAULT nextval('token_change')
);
CREATE INDEX token_by_change ON token (change);

CREATE TABLE keyring (place integer PRIMARY KEY CHECK (place = 1), ring text NOT NULL);
`;
