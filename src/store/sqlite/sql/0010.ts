/** Indexes of the lists over all agents, callers and tenants. */
export const sql = `
-- By owner and creation: the key of the task follows the owner in the index.
CREATE INDEX task_by_creation ON task (owner);
-- Tasks that wait or ended badly are few, and are looked for.
CREATE INDEX task_by_state ON task (state, key, owner) WHERE state > 1 AND state <> 4;
CREATE INDEX task_waiting ON task (status_at, key) WHERE state IN (2, 3);
`;
