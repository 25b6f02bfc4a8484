/** The order in which turns arrived, also when a later message of an old task comes after a newer task. */
export const sql = `
-- arrived: the revision at which the present turn arrived: turns of one context run in this order.
-- NULL: the task does not wait for the others of its context.
ALTER TABLE task ADD COLUMN arrived INTEGER DEFAULT 0;
`;
