/** Indexes of the lists over all agents, callers and tenants; more about nodes. */
export const sql = `
-- Tasks that wait or ended badly are few, and are looked for.
CREATE INDEX task_by_state ON task (state, id) WHERE state > 1 AND state <> 4;
CREATE INDEX task_waiting ON task (status_at, id) WHERE state IN (2, 3);

ALTER TABLE node ADD COLUMN version text NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN started timestamptz NOT NULL DEFAULT clock_timestamp();
`;
