/** The order in which turns arrived, also if a message to an old task arrives after a newer task. */
export const sql = `
-- arrived: the revision at which the current turn arrived: turns of one context run in this order.
-- NULL: the task does not wait for the others of its context.
ALTER TABLE task ADD COLUMN arrived INTEGER DEFAULT 0;
`;
