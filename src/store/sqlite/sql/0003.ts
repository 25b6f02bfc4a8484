/** Logs that were compacted: the task is kept as it ended, its events are not. */
export const sql = `
-- since: events up to this one are gone; then the snapshot is where the task begins, and rows of the log that are kept
-- for the order of lists have no events in them.
ALTER TABLE task ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
`;
