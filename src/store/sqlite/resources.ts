import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type ResourceRow, TIME_COLUMNS } from "../kernel/resource-row.ts";
import type { ResourceBackend } from "../single-node/backend.ts";
import { BOUND_LIMIT } from "./bound-limit.ts";

const COLUMNS = "tenant, principal, kind, id, created_at, updated_at, expires_at, rev, value";
const OWN = "tenant = ? AND principal = ? AND kind = ?";

/** The table `resource`. */
export function createResourceTable(db: DatabaseSync): ResourceBackend {
  const select = db.prepare(`SELECT ${COLUMNS} FROM resource WHERE ${OWN} AND id = ?`);
  const upsert = db.prepare(
    `INSERT INTO resource (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, principal, kind, id) ` +
      "DO UPDATE SET created_at = excluded.created_at, updated_at = excluded.updated_at, " +
      "expires_at = excluded.expires_at, rev = excluded.rev, value = excluded.value",
  );
  const remove = db.prepare(`DELETE FROM resource WHERE ${OWN} AND id = ?`);
  const selectExpired = db.prepare(
    `SELECT ${COLUMNS} FROM resource WHERE kind = ? AND expires_at <= ? ORDER BY expires_at ${BOUND_LIMIT}`,
  );
  const lists = new Map<string, StatementSync>();

  function listStatement(column: string, backwards: boolean): StatementSync {
    const [sign, order] = backwards ? ["<", "DESC"] : [">", "ASC"];
    const sql =
      `SELECT ${COLUMNS} FROM resource WHERE ${OWN} AND (${column}, id) ${sign} (?, ?) ` +
      `ORDER BY ${column} ${order}, id ${order} ${BOUND_LIMIT}`;
    const known = lists.get(sql) ?? db.prepare(sql);
    lists.set(sql, known);
    return known;
  }

  return {
    find: ({ tenant, principal }, kind, id) =>
      (select.get(tenant, principal, kind, id) as unknown as ResourceRow | undefined) ?? null,
    list({ tenant, principal }, kind, { by, backwards, beyond, max }) {
      const start = beyond ?? (backwards ? { at: Number.MAX_SAFE_INTEGER, id: "" } : { at: -1, id: "" });
      const statement = listStatement(TIME_COLUMNS[by], backwards);
      return statement.all(tenant, principal, kind, start.at, start.id, max) as unknown as ResourceRow[];
    },
    expired: (kind, at, max) => selectExpired.all(kind, at, max) as unknown as ResourceRow[],
    write([tenant, principal, kind, id], row) {
      if (!row) remove.run(tenant, principal, kind, id);
      else
        upsert.run(
          tenant,
          principal,
          kind,
          id,
          row.created_at,
          row.updated_at,
          row.expires_at,
          row.rev,
          row.value,
        );
    },
  };
}
