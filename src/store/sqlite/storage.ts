import type { DatabaseSync } from "node:sqlite";
import type { Json } from "../../lib/json.ts";
import type { Backend, StorageWrite } from "../single-node/backend.ts";
import { BOUND_LIMIT } from "./bound-limit.ts";
import type { OwnerTable } from "./owners.ts";

interface ItemRow {
  readonly key: string;
  readonly value: string;
}

/** Agent storage, in the table `shelf`. */
export function createStorageTable(db: DatabaseSync, owners: OwnerTable) {
  const upsert = db.prepare(
    "INSERT INTO shelf (owner, shelf, key, value) VALUES (?, ?, ?, ?) " +
      "ON CONFLICT (owner, shelf, key) DO UPDATE SET value = excluded.value",
  );
  const remove = db.prepare("DELETE FROM shelf WHERE owner = ? AND shelf = ? AND key = ?");
  const select = "SELECT key, value FROM shelf WHERE owner = ? AND shelf = ? AND key";
  const selectForwards = db.prepare(`${select} >= ? AND key > ? AND key < ? ORDER BY key ${BOUND_LIMIT}`);
  const selectBackwards = db.prepare(
    `${select} >= ? AND key < ? AND key < ? ORDER BY key DESC ${BOUND_LIMIT}`,
  );

  const list: Backend["listStorage"] = ({ scope, agent, area }, range) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return [];
    const { prefix, beyond } = range;
    const end = `${prefix}${LAST_CHARACTER}`;
    const rows = range.backwards
      ? selectBackwards.all(owner, area, prefix, beyond ?? end, end, range.max)
      : selectForwards.all(owner, area, prefix, beyond ?? "", end, range.max);
    return (rows as unknown as ItemRow[]).map(({ key, value }) => ({
      key,
      value: JSON.parse(value) as Json,
    }));
  };

  return {
    list,
    /** Only inside a transaction. */
    write({ area: { scope, agent, area }, changes }: StorageWrite): void {
      const owner = owners.idOf(scope, agent);
      for (const { key, text } of changes)
        if (text === undefined) remove.run(owner, area, key);
        else upsert.run(owner, area, key, text);
    },
  };
}

/** Sorts after every text with the same prefix: keys are compared as UTF-8. */
const LAST_CHARACTER = "\u{10ffff}";
