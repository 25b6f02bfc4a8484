/** What an error of the database means: for the caller, for the statement, for the connection. */
import { Fault } from "../../model/index.ts";

/** Transient errors become Fault("unavailable"), so that callers retry; the cause is logged. Others are bugs and stay. */
export function toFault(error: unknown): unknown {
  const state = sqlStateOf(error);
  if (error instanceof Fault || (state !== undefined && !TRANSIENT.test(state))) return error;
  return new Fault("unavailable", "The store is unavailable; try again later", {}, error);
}

/**
 * SQLSTATE of a broken connection (08), a read-only server (25006), a rollback because of other transactions (40), a lock
 * that is not available (55P03), insufficient resources (53), an operator or a timeout (57), an I/O error (58).
 */
const TRANSIENT = /^(?:08|25006|40|53|55P03|57|58)/;
/** Transient errors of one statement, not of the server. */
const OF_ONE_STATEMENT = /^(?:40|55P03|57014)/;

/** The SQLSTATE of an error; undefined: it does not come from Postgres. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = ((error instanceof Fault ? error.cause : error) as { readonly code?: unknown } | undefined)
    ?.code;
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * A named statement was not found, or is there twice, and nothing was executed: a pooler that was not recognised uses
 * another connection than before. Then statements are no longer named.
 */
export const isStatementLost = (error: unknown): boolean => /^(?:26000|42P05)$/.test(sqlStateOf(error) ?? "");

/** Class 40: a deadlock or a serialization failure, where Postgres has rolled back this transaction. */
export const isDeadlock = (error: unknown): boolean => sqlStateOf(error)?.startsWith("40") ?? false;

/** The database is unreachable: other statements would fail as well. */
export function isDatabaseDown(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || (TRANSIENT.test(state) && !OF_ONE_STATEMENT.test(state));
}
