/** A list of one caller's tasks in one state. */
export const sql = `
-- Most tasks are completed, and found by their owner; the others are few, and are looked for.
CREATE INDEX task_by_owner_state ON task (owner, state, rev) WHERE hidden = 0 AND state > 1 AND state <> 4;
`;
