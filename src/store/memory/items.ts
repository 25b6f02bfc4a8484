import type { Scope } from "../../model/index.ts";
import type { ItemRow } from "../kernel/item-row.ts";
import type { ItemBackend } from "../single-node/backend.ts";

interface StoredItemRow extends ItemRow {
  readonly owner: string;
  readonly ttlMs: number | null;
}

const ownerOf = ({ tenant, principal }: Scope): string => JSON.stringify([tenant, principal]);
const isLive = ({ expires_at: at }: ItemRow, now: number): boolean => at === null || at > now;

/** Items in memory. */
export function createMemoryItems(): ItemBackend {
  const rows = new Map<string, StoredItemRow>();
  const toKey = (scope: Scope, namespace: string, key: string): string =>
    JSON.stringify([ownerOf(scope), namespace, key]);
  const find = (scope: Scope, namespace: string, key: string, now: number): StoredItemRow | undefined => {
    const row = rows.get(toKey(scope, namespace, key));
    return row && isLive(row, now) ? row : undefined;
  };
  const liveOf = (scope: Scope, from: string, to: string, now: number): readonly StoredItemRow[] =>
    [...rows.values()].filter(
      row => row.owner === ownerOf(scope) && row.namespace >= from && row.namespace < to && isLive(row, now),
    );

  return {
    get: find,
    list: (scope, { from, to, after, max, withVectors }, now) =>
      liveOf(scope, from, to, now)
        .filter(row => !after || compare(row, after) > 0)
        .sort(compare)
        .slice(0, max)
        .map(row => (withVectors ? row : { ...row, vectors: null })),
    listNamespaces: (scope, from, to, max, now) =>
      [...new Set(liveOf(scope, from, to, now).map(row => row.namespace))].sort().slice(0, max),
    write(scope, { namespace, key, value, vectors, ttlMs }, now) {
      const id = toKey(scope, namespace, key);
      if (value === null) return void rows.delete(id);
      rows.set(id, {
        owner: ownerOf(scope),
        namespace,
        key,
        value,
        vectors,
        ttlMs,
        created_at: find(scope, namespace, key, now)?.created_at ?? now,
        updated_at: now,
        expires_at: ttlMs === null ? null : now + ttlMs,
      });
    },
    refresh(scope, namespace, key, now) {
      const row = find(scope, namespace, key, now);
      if (row && row.ttlMs !== null)
        rows.set(toKey(scope, namespace, key), { ...row, expires_at: now + row.ttlMs });
    },
    sweep(max, now) {
      const expired = [...rows].filter(([, row]) => !isLive(row, now)).slice(0, max);
      for (const [id] of expired) rows.delete(id);
      return expired.length;
    },
  };
}

type Position = Pick<ItemRow, "namespace" | "key" | "updated_at">;

/** The item that was changed last comes first. */
function compare(a: Position, b: Position): number {
  if (a.updated_at !== b.updated_at) return b.updated_at - a.updated_at;
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1;
  return a.key === b.key ? 0 : a.key < b.key ? -1 : 1;
}
