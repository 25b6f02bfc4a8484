import type { Json } from "../../lib/json.ts";
import type { StorageArea } from "../../ports/index.ts";
import type { Backend, StorageWrite } from "../single-node/backend.ts";

/** Agent storage in memory. */
export function createMemoryStorage() {
  const areas = new Map<string, Map<string, Json>>();
  const toKey = ({ scope, agent, area }: StorageArea): string =>
    JSON.stringify([scope.tenant, scope.principal, agent, area]);

  const list: Backend["listStorage"] = (area, { prefix, beyond, backwards = false, max }) => {
    const entries = [...(areas.get(toKey(area)) ?? [])]
      .filter(([key]) => key.startsWith(prefix))
      .filter(([key]) => beyond === undefined || (backwards ? key < beyond : key > beyond))
      .sort(([a], [b]) => (a < b !== backwards ? -1 : 1));
    return entries.slice(0, max).map(([key, value]) => ({ key, value: structuredClone(value) }));
  };

  return {
    list,
    write({ area, changes }: StorageWrite): void {
      const values = areas.get(toKey(area)) ?? new Map<string, Json>();
      areas.set(toKey(area), values);
      for (const { key, text } of changes)
        if (text === undefined) values.delete(key);
        else values.set(key, JSON.parse(text) as Json);
    },
    clear: (area: StorageArea): void => void areas.delete(toKey(area)),
  };
}
