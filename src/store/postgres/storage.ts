import { ChurnMap } from "../../lib/churn-map.ts";
import type { Json } from "../../lib/json.ts";
import type { AgentStorage, StorageArea, StoredItem } from "../../ports/index.ts";
import { encodeStorageValue } from "../kernel/storage-value.ts";
import type { Database } from "./database.ts";
import type { OwnerIds } from "./owners.ts";

/** Sorts after every key with the same prefix. */
const MAX_CHAR = "\u{10ffff}";

/** A key and its encoded value; undefined: the key is deleted. */
type EncodedChange = readonly [key: string, text: string | undefined];

const toKey = ({ scope, agent, area }: StorageArea): string =>
  `${scope.tenant}\n${scope.principal}\n${agent}\n${area}`;

export function createAgentStorage(db: Database, owners: OwnerIds): AgentStorage {
  /** The last pending change of each area: changes of one area are made in the order of their calls. */
  const pending = new ChurnMap<string, Promise<void>>();

  const list: AgentStorage["list"] = async ({ scope, agent, area }, range) => {
    const owner = await owners.find(scope, agent);
    if (owner === undefined) return [];
    const { prefix, backwards, max } = range;
    const end = `${prefix}${MAX_CHAR}`;
    const beyond = range.beyond ?? (backwards ? end : "");
    const rows = await db.query<{ key: string; value: string }>(
      `SELECT key, value FROM shelf WHERE owner = $1 AND shelf = $2 AND key >= $3 AND key < $4
       AND key ${backwards ? "<" : ">"} $5 ORDER BY key ${backwards ? "DESC" : "ASC"} LIMIT $6`,
      [owner, area, prefix, end, beyond, max],
    );
    return rows.map(({ key, value }): StoredItem => ({ key, value: JSON.parse(value) as Json }));
  };
  async function write(
    { scope, agent, area }: StorageArea,
    changes: readonly EncodedChange[],
  ): Promise<void> {
    const owner = await owners.getOrCreate(scope, agent);
    // The last value of a key counts. Keys are sorted, so that two transactions do not deadlock.
    const last = [...new Map(changes)].sort(([a], [b]) => (a < b ? -1 : 1));
    const deleted = last.filter(([, text]) => text === undefined).map(([key]) => key);
    const updated = last.filter(([, text]) => text !== undefined);
    await db.transact(async tx => {
      if (deleted.length > 0)
        await tx.query("DELETE FROM shelf WHERE owner = $1 AND shelf = $2 AND key = ANY($3)", [
          owner,
          area,
          deleted,
        ]);
      if (updated.length > 0)
        await tx.query(
          "INSERT INTO shelf (owner, shelf, key, value) SELECT $1, $2, * FROM unnest($3::text[], $4::text[]) " +
            "ON CONFLICT (owner, shelf, key) DO UPDATE SET value = excluded.value",
          [owner, area, updated.map(([key]) => key), updated.map(([, text]) => text)],
        );
    });
  }
  return {
    list,
    async get(area, key) {
      const [found] = await list(area, { prefix: key, max: 1 });
      return found?.key === key ? found.value : undefined;
    },
    async put(area, changes) {
      if (changes.length === 0) return;
      const encoded = changes.map((change): EncodedChange => [change.key, encodeStorageValue(change)]);
      const key = toKey(area);
      const done = (pending.get(key) ?? Promise.resolve()).then(() => write(area, encoded));
      const settled = done
        .catch(() => {})
        .then(() => {
          if (pending.get(key) === settled) pending.delete(key);
        });
      pending.set(key, settled);
      return done;
    },
  };
}
