import type { DatabaseSync } from "node:sqlite";
import type { Json } from "../../lib/json.ts";
import type { Journal, Put } from "../single-node/backend.ts";
import type { Owners } from "./owners.ts";

interface Row {
  readonly key: string;
  readonly value: string;
}

/** What was put away beside the log. */
export function createShelfTable(db: DatabaseSync, owners: Owners) {
  const upsert = db.prepare(
    "INSERT INTO shelf (owner, shelf, key, value) VALUES (?, ?, ?, ?) " +
      "ON CONFLICT (owner, shelf, key) DO UPDATE SET value = excluded.value",
  );
  const remove = db.prepare("DELETE FROM shelf WHERE owner = ? AND shelf = ? AND key = ?");
  const within = "SELECT key, value FROM shelf WHERE owner = ? AND shelf = ? AND key";
  const forwards = db.prepare(`${within} >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?`);
  const backwards = db.prepare(`${within} >= ? AND key < ? AND key < ? ORDER BY key DESC LIMIT ?`);

  const list: Journal["shelved"] = ({ scope, agent, area: shelf }, range) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return [];
    const { prefix, beyond } = range;
    const end = `${prefix}${BEYOND}`;
    const rows = range.backwards
      ? backwards.all(owner, shelf, prefix, beyond ?? end, end, range.max)
      : forwards.all(owner, shelf, prefix, beyond ?? "", end, range.max);
    return (rows as unknown as Row[]).map(({ key, value }) => ({ key, value: JSON.parse(value) as Json }));
  };

  return {
    list,
    /** Only inside a commit. */
    put({ place, changes }: Put): void {
      const { area: shelf } = place;
      const owner = owners.idOf(place.scope, place.agent);
      for (const { key, text } of changes)
        if (text === undefined) remove.run(owner, shelf, key);
        else upsert.run(owner, shelf, key, text);
    },
  };
}

/** After every text with the same beginning: keys are compared as UTF-8. */
const BEYOND = "\u{10ffff}";
