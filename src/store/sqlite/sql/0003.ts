/** Compacted logs: the final task is kept, its events are removed. */
export const sql = `
-- since: events up to this one were removed; then the task begins with its snapshot, and segments that are kept for the
-- order of lists have no events.
ALTER TABLE task ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
`;
