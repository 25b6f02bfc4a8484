import { ChurnMap } from "../../lib/churn-map.ts";
import type { Json } from "../../lib/json.ts";
import type { AgentStorage, StorageArea, StoredItem } from "../../ports/index.ts";
import { toShelved } from "../single-node/storage.ts";
import type { Database } from "./database.ts";
import type { Owners } from "./owners.ts";

/** After every text with the same beginning. */
const BEYOND = "\u{10ffff}";

/** A key, and the text of its value; undefined: it is taken away. */
type Written = readonly [key: string, text: string | undefined];

const toKey = ({ scope, agent, area: shelf }: StorageArea): string =>
  `${scope.tenant}\n${scope.principal}\n${agent}\n${shelf}`;

export function createShelf(db: Database, owners: Owners): AgentStorage {
  /** The newest change of each shelf that is not settled: changes of one shelf are made in the order of their calls. */
  const underWay = new ChurnMap<string, Promise<void>>();

  const list: AgentStorage["list"] = async ({ scope, agent, area: shelf }, range) => {
    const owner = await owners.find(scope, agent);
    if (owner === undefined) return [];
    const { prefix, backwards, max } = range;
    const end = `${prefix}${BEYOND}`;
    const beyond = range.beyond ?? (backwards ? end : "");
    const rows = await db.query<{ key: string; value: string }>(
      `SELECT key, value FROM shelf WHERE owner = $1 AND shelf = $2 AND key >= $3 AND key < $4
       AND key ${backwards ? "<" : ">"} $5 ORDER BY key ${backwards ? "DESC" : "ASC"} LIMIT $6`,
      [owner, shelf, prefix, end, beyond, max],
    );
    return rows.map(({ key, value }): StoredItem => ({ key, value: JSON.parse(value) as Json }));
  };
  async function write({ scope, agent, area: shelf }: StorageArea, texts: readonly Written[]): Promise<void> {
    const owner = await owners.idOf(scope, agent);
    // Of several values under one key the last one counts. Keys are sorted, so that two transactions never wait for each other.
    const last = [...new Map(texts)].sort(([a], [b]) => (a < b ? -1 : 1));
    const gone = last.filter(([, text]) => text === undefined).map(([key]) => key);
    const kept = last.filter(([, text]) => text !== undefined);
    await db.transact(async on => {
      if (gone.length > 0)
        await on.query("DELETE FROM shelf WHERE owner = $1 AND shelf = $2 AND key = ANY($3)", [
          owner,
          shelf,
          gone,
        ]);
      if (kept.length > 0)
        await on.query(
          "INSERT INTO shelf (owner, shelf, key, value) SELECT $1, $2, * FROM unnest($3::text[], $4::text[]) " +
            "ON CONFLICT (owner, shelf, key) DO UPDATE SET value = excluded.value",
          [owner, shelf, kept.map(([key]) => key), kept.map(([, text]) => text)],
        );
    });
  }
  return {
    list,
    async get(place, key) {
      const [found] = await list(place, { prefix: key, max: 1 });
      return found?.key === key ? found.value : undefined;
    },
    async put(place, changes) {
      if (changes.length === 0) return;
      const texts = changes.map((change): Written => [change.key, toShelved(change)]);
      const key = toKey(place);
      const done = (underWay.get(key) ?? Promise.resolve()).then(() => write(place, texts));
      const settled = done
        .catch(() => {})
        .then(() => {
          if (underWay.get(key) === settled) underWay.delete(key);
        });
      underWay.set(key, settled);
      return done;
    },
  };
}
