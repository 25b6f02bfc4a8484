import type { Resources } from "../../ports/index.ts";
import {
  encodeResource,
  type ResourceRow,
  resourceConflict,
  TIME_COLUMNS,
  toOwnedResource,
  toResource,
} from "../kernel/resource-row.ts";
import type { Database } from "./database.ts";

const COLUMNS = "tenant, principal, kind, id, created_at, updated_at, expires_at, rev, value";
const OWN = "tenant = $1 AND principal = $2 AND kind = $3";

export function createResources(db: Database): Resources {
  return {
    async find({ tenant, principal }, kind, id) {
      const sql = `SELECT ${COLUMNS} FROM resource WHERE ${OWN} AND id = $4`;
      const [row] = await db.query<ResourceRow>(sql, [tenant, principal, kind, id]);
      return row ? toResource(row) : null;
    },
    async put({ tenant, principal }, kind, resource, expected) {
      const { id, createdAt, updatedAt, expiresAt = null } = resource;
      const rev = expected === "absent" ? 1 : expected + 1;
      const values = [tenant, principal, kind, id, createdAt, updatedAt, expiresAt, rev];
      const all = [...values, encodeResource(resource)];
      const written =
        expected === "absent"
          ? await db.query(
              `INSERT INTO resource (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id`,
              all,
            )
          : await db.query(
              "UPDATE resource SET created_at = $5, updated_at = $6, expires_at = $7, rev = $8, value = $9 " +
                `WHERE ${OWN} AND id = $4 AND rev = $8 - 1 RETURNING id`,
              all,
            );
      if (written.length === 0) throw resourceConflict();
      return { ...resource, rev };
    },
    async remove({ tenant, principal }, kind, id) {
      const sql = `DELETE FROM resource WHERE ${OWN} AND id = $4 RETURNING id`;
      return (await db.query(sql, [tenant, principal, kind, id])).length > 0;
    },
    async list({ tenant, principal }, kind, { by, backwards, beyond, max }) {
      const column = TIME_COLUMNS[by];
      const [sign, order] = backwards ? ["<", "DESC"] : [">", "ASC"];
      const start = beyond ?? (backwards ? { at: Number.MAX_SAFE_INTEGER, id: "" } : { at: -1, id: "" });
      const rows = await db.query<ResourceRow>(
        `SELECT ${COLUMNS} FROM resource WHERE ${OWN} AND (${column}, id) ${sign} ($4, $5) ` +
          `ORDER BY ${column} ${order}, id ${order} LIMIT $6`,
        [tenant, principal, kind, start.at, start.id, max],
      );
      return rows.map(toResource);
    },
    async expired(kind, at, max) {
      const rows = await db.query<ResourceRow>(
        `SELECT ${COLUMNS} FROM resource WHERE kind = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT $3`,
        [kind, at, max],
      );
      return rows.map(toOwnedResource);
    },
  };
}
