/**
 * A limit that is a parameter. Where the parameter is the whole limit, SQLite plans the query with its value, and therefore
 * prepares the statement again each time one is bound: two thirds of the time of a short query. An expression is not planned with.
 */
export const BOUND_LIMIT = "LIMIT 0 + ?";
