import type { ItemStore } from "../../ports/index.ts";
import {
  decodeItem,
  encodeItem,
  endOfPrefix,
  fromNamespaceKey,
  type ItemRow,
  type ItemWrite,
  toItemKey,
  toNamespaceKey,
} from "../kernel/item-row.ts";
import type { Database, Queryable } from "./database.ts";

export interface ItemStoreParts {
  readonly db: Database;
  readonly wallTime: () => number;
}

const COLUMNS = "namespace, key, value, created_at, updated_at, expires_at";
const live = (now: string): string => `(expires_at IS NULL OR expires_at > ${now})`;

const UPSERT = `
INSERT INTO item (tenant, principal, namespace, key, value, vectors, created_at, updated_at, ttl_ms, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $7::bigint + $8::bigint)
ON CONFLICT (tenant, principal, namespace, key) DO UPDATE SET value = excluded.value, vectors = excluded.vectors,
  updated_at = excluded.updated_at, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at,
  created_at = CASE WHEN item.expires_at <= excluded.updated_at THEN excluded.created_at ELSE item.created_at END`;

/** Items of callers. */
export function createItemStore({ db, wallTime }: ItemStoreParts): ItemStore {
  return {
    async get({ tenant, principal }, id) {
      const { namespace, key } = toItemKey(id);
      const [row] = await db.query<ItemRow>(
        `SELECT ${COLUMNS}, NULL AS vectors FROM item WHERE tenant = $1 AND principal = $2 AND namespace = $3 AND key = $4 AND ${live("$5")}`,
        [tenant, principal, namespace, key, wallTime()],
      );
      return row && decodeItem(row);
    },
    async put({ tenant, principal }, changes) {
      // The last change of an item counts. Changes are sorted, so that two transactions do not deadlock.
      const last = new Map<string, ItemWrite>();
      for (const change of changes.map(encodeItem))
        last.set(JSON.stringify([change.namespace, change.key]), change);
      const now = wallTime();
      const write = (tx: Queryable, { namespace, key, value, vectors, ttlMs }: ItemWrite) =>
        value === null
          ? tx.query(
              "DELETE FROM item WHERE tenant = $1 AND principal = $2 AND namespace = $3 AND key = $4",
              [tenant, principal, namespace, key],
            )
          : tx.query(UPSERT, [tenant, principal, namespace, key, value, vectors, now, ttlMs]);
      if (last.size > 0)
        await db.transact(async tx => {
          for (const [, change] of [...last].sort(([a], [b]) => (a < b ? -1 : 1))) await write(tx, change);
        });
    },
    async list({ tenant, principal }, { prefix, after, max, withVectors }) {
      const from = toNamespaceKey(prefix);
      const last = after
        ? { ...toItemKey(after), at: after.updatedAt }
        : { namespace: "", key: "", at: Number.MAX_SAFE_INTEGER };
      const rows = await db.query<ItemRow>(
        `SELECT ${COLUMNS}, ${withVectors ? "vectors" : "NULL AS vectors"} FROM item
         WHERE tenant = $1 AND principal = $2 AND namespace >= $3 AND namespace < $4 AND ${live("$5")}
         AND updated_at <= $6 AND (updated_at < $6 OR (namespace, key) > ($7, $8))
         ORDER BY updated_at DESC, namespace, key LIMIT $9`,
        [tenant, principal, from, endOfPrefix(from), wallTime(), last.at, last.namespace, last.key, max],
      );
      return rows.map(decodeItem);
    },
    async listNamespaces({ tenant, principal }, { prefix, after, max }) {
      const from = toNamespaceKey(prefix);
      const rows = await db.query<{ namespace: string }>(
        `SELECT DISTINCT namespace FROM item WHERE tenant = $1 AND principal = $2 AND namespace >= $3 AND namespace < $4
         AND namespace > $5 AND ${live("$6")} ORDER BY namespace LIMIT $7`,
        [tenant, principal, from, endOfPrefix(from), after ? toNamespaceKey(after) : "", wallTime(), max],
      );
      return rows.map(row => fromNamespaceKey(row.namespace));
    },
    async refresh({ tenant, principal }, ids) {
      if (ids.length === 0) return;
      const keys = ids.map(toItemKey);
      await db.query(
        `UPDATE item SET expires_at = $1::bigint + ttl_ms FROM unnest($4::text[], $5::text[]) AS id(namespace, key)
         WHERE tenant = $2 AND principal = $3 AND item.namespace = id.namespace AND item.key = id.key AND expires_at > $1`,
        [wallTime(), tenant, principal, keys.map(({ namespace }) => namespace), keys.map(({ key }) => key)],
      );
    },
    async sweep(max) {
      const rows = await db.query(
        `DELETE FROM item WHERE ctid = ANY(ARRAY(SELECT ctid FROM item WHERE expires_at <= $1
         ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
        [wallTime(), max],
      );
      return rows.length;
    },
  };
}
