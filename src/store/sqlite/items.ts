import type { DatabaseSync } from "node:sqlite";
import type { ItemRow } from "../kernel/item-row.ts";
import type { ItemBackend } from "../single-node/backend.ts";
import { BOUND_LIMIT } from "./bound-limit.ts";

const COLUMNS = "namespace, key, value, created_at, updated_at, expires_at";
const OWNED = "tenant = ? AND principal = ?";
const LIVE = "(expires_at IS NULL OR expires_at > ?)";

/** Items of callers. */
export function createItemTable(db: DatabaseSync): ItemBackend {
  const select = db.prepare(
    `SELECT ${COLUMNS}, NULL AS vectors FROM item WHERE ${OWNED} AND namespace = ? AND key = ? AND ${LIVE}`,
  );
  const selectPage = (vectors: string) =>
    db.prepare(
      `SELECT ${COLUMNS}, ${vectors} AS vectors FROM item INDEXED BY item_by_change WHERE ${OWNED} ` +
        `AND namespace >= ? AND namespace < ? AND ${LIVE} ` +
        "AND updated_at <= ?7 AND (updated_at < ?7 OR namespace > ?8 OR (namespace = ?8 AND key > ?9)) " +
        "ORDER BY updated_at DESC, namespace, key LIMIT 0 + ?6",
    );
  const pages = { plain: selectPage("NULL"), withVectors: selectPage("vectors") };
  const selectNamespaces = db.prepare(
    `SELECT DISTINCT namespace FROM item WHERE ${OWNED} AND namespace >= ? AND namespace < ? AND ${LIVE} ` +
      `ORDER BY namespace ${BOUND_LIMIT}`,
  );
  const upsert = db.prepare(
    "INSERT INTO item (tenant, principal, namespace, key, value, vectors, created_at, updated_at, ttl_ms, expires_at) " +
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?7 + ?8) ON CONFLICT (tenant, principal, namespace, key) DO UPDATE SET " +
      "value = excluded.value, vectors = excluded.vectors, updated_at = excluded.updated_at, ttl_ms = excluded.ttl_ms, " +
      // An item that has expired, and is not deleted yet, is none.
      "expires_at = excluded.expires_at, created_at = CASE WHEN item.expires_at <= ?7 THEN ?7 ELSE item.created_at END",
  );
  const remove = db.prepare(`DELETE FROM item WHERE ${OWNED} AND namespace = ? AND key = ?`);
  const refresh = db.prepare(
    "UPDATE item SET expires_at = ?1 + ttl_ms WHERE tenant = ?2 AND principal = ?3 AND namespace = ?4 AND key = ?5 " +
      "AND expires_at > ?1",
  );
  const sweep = db.prepare(
    "DELETE FROM item WHERE (tenant, principal, namespace, key) IN " +
      `(SELECT tenant, principal, namespace, key FROM item WHERE expires_at <= ? ORDER BY expires_at ${BOUND_LIMIT})`,
  );

  return {
    get: ({ tenant, principal }, namespace, key, now) =>
      select.get(tenant, principal, namespace, key, now) as ItemRow | undefined,
    list({ tenant, principal }, { from, to, after, max, withVectors }, now) {
      const page = withVectors ? pages.withVectors : pages.plain;
      const last = after ?? { updated_at: Number.MAX_SAFE_INTEGER, namespace: "", key: "" };
      const { updated_at, namespace, key } = last;
      return page.all(
        tenant,
        principal,
        from,
        to,
        now,
        max,
        updated_at,
        namespace,
        key,
      ) as unknown as ItemRow[];
    },
    listNamespaces: ({ tenant, principal }, from, to, max, now) =>
      selectNamespaces.all(tenant, principal, from, to, now, max).map(row => row.namespace as string),
    write({ tenant, principal }, { namespace, key, value, vectors, ttlMs }, now) {
      if (value === null) remove.run(tenant, principal, namespace, key);
      else upsert.run(tenant, principal, namespace, key, value, vectors, now, ttlMs);
    },
    refresh({ tenant, principal }, namespace, key, now) {
      refresh.run(now, tenant, principal, namespace, key);
    },
    sweep: (max, now) => Number(sweep.run(now, max).changes),
  };
}
